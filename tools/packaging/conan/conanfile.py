"""The library for Conan 2, from the tree that it stands in: conan create tools/packaging/conan --build=missing"""
import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps
from conan.tools.system.package_manager import Apk, Apt


class Muster(ConanFile):
    name = "muster"
    description = "Runs every NPC of a game server inside a CPU budget per frame"
    license = "MIT"
    settings = "os", "arch", "compiler", "build_type"
    requires = "xxhash/0.8.2"

    @property
    def tree(self):
        return pathlib.Path(self.recipe_folder).parents[2]

    def set_version(self):
        header = (self.tree / "include/muster/common.h").read_text()
        self.version = ".".join(re.findall(r"^#define MUSTER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.MULTILINE))

    def export_sources(self):
        for pattern in "CMakeLists.txt", "LICENSE", "include/*", "src/*", "tools/packaging/*", "tests/examples/*":
            copy(self, pattern, str(self.tree), self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("muster runs on Linux")

    def configure(self):  # it is C
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    # Concurrency Kit has no recipe: the system's is used.
    def system_requirements(self):
        Apt(self).install(["libck-dev", "pkg-config"])
        Apk(self).install(["ck-dev", "pkgconf"])

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(
            {"MUSTER_TESTS": False, "MUSTER_SERVICE": False, "MUSTER_PROGRAMS": False, "MUSTER_INSTALL": True})
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, str(pathlib.Path(self.package_folder) / "licenses"))

    def package_info(self):
        # The installed muster-config.cmake is used as it is.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/muster"]
        self.cpp_info.libs = ["muster"]
        self.cpp_info.system_libs = ["pthread", "m"]
