#!/bin/bash
# The vcpkg port and the conan recipe, with stand-ins for what these two provide: the options that they give exist, the
# files that they take configure without the rest of the tree, and their versions are the headers'.
set -eEu
. "$(dirname "$0")/consumer/found.bash"
packaging=$MUSTER_SOURCE_DIR/tools/packaging
version=$("$MUSTER" --version | awk '{ print $2 }')

# Configures a tree, and asks for what an installation needs: the build is that of packages/subproject.
cat >"$work/configure" <<'SH'
#!/bin/bash
set -eu
cmake -S "$1" -B "$2" -G Ninja --warn-uninitialized "${@:3}" >"$2.log" 2>&1 || { cat "$2.log" >&2; exit 1; }
if grep -q 'Manually-specified variables were not used' "$2.log"; then tail "$2.log" >&2; exit 1; fi
ninja -n -C "$2" install >/dev/null
[ -f "$2/muster-config.cmake" ]
[ -z "$(ninja -C "$2" -t targets all | grep -E '^(muster_cli|musterd|tidy):')" ]
SH
chmod +x "$work/configure"

cat >"$work/port.cmake" <<CMAKE
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 port "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND "$work/configure" \${port_SOURCE_PATH} "$work/port" \${port_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
foreach(name vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig)
  cmake_language(EVAL CODE "function(\${name})\nendfunction()")
endforeach()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 port "" "" "FILE_LIST")
  file(READ \${port_FILE_LIST} text)
endfunction()
set(CURRENT_PACKAGES_DIR "$work/packages")
include("$packaging/vcpkg/muster/portfile.cmake")
CMAKE
cmake -P "$work/port.cmake"

PYTHONDONTWRITEBYTECODE=1 python3 - "$packaging" "$work" "$version" <<'PY'
import fnmatch, json, pathlib, re, shutil, subprocess, sys, types

packaging, work, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
assert json.loads((packaging / "vcpkg/muster/vcpkg.json").read_text())["version"] == version, "the port's version"
changes = (packaging.parent / "docs/CHANGELOG.md").read_text()
assert re.search(r"^## (\S+),", changes, re.MULTILINE).group(1) == version, "the change log's version"


def copy(recipe, pattern, source, folder):
    files = [path for path in pathlib.Path(source).rglob(pattern.split("/")[-1])
             if path.is_file() and fnmatch.fnmatch(str(path.relative_to(source)), pattern)]
    assert files, f"the recipe takes {pattern}, which there is not"
    for path in files:
        target = pathlib.Path(folder) / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


class Toolchain:
    def __init__(self, recipe):
        self.cache_variables = {}
        recipe.toolchain = self

    def generate(self):
        pass


for name, content in {"conan": {"ConanFile": object}, "conan.errors": {"ConanInvalidConfiguration": Exception},
                      "conan.tools": {}, "conan.tools.cmake": {"CMake": None, "CMakeToolchain": Toolchain,
                                                                "CMakeDeps": Toolchain, "cmake_layout": None},
                      "conan.tools.files": {"copy": copy}, "conan.tools.gnu": {"PkgConfigDeps": Toolchain},
                      "conan.tools.system": {}, "conan.tools.system.package_manager": {"Apk": None, "Apt": None}}.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
sys.path.insert(0, str(packaging / "conan"))
recipe = __import__("conanfile").Muster()
recipe.recipe_folder, recipe.export_sources_folder = str(packaging / "conan"), str(work / "exported")
recipe.set_version()
assert recipe.version == version, recipe.version
recipe.export_sources()
seen = []
Toolchain.generate = lambda self: seen.append(self.cache_variables)
recipe.generate()
options = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in seen[0].items()]
assert len(options) == 4
subprocess.run([work / "configure", work / "exported", work / "recipe", *options], check=True)
PY
