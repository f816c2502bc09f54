package muster;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * One struct of the library or an array of them, in memory that the library reads and writes. at(i) goes to one of an
 * array, and returns it: what it returned before stays where it was. All of them are places in the same memory, so the
 * next plan overwrites what the entries of the last one had.
 */
public abstract class Struct {
  final ByteBuffer memory;
  int base;
  private final int bytes;

  Struct(int count, int bytes) {
    if (count < 1 || (long) count * bytes > Integer.MAX_VALUE)
      throw new IllegalArgumentException("count is " + count + ": it must be 1 .. " + Integer.MAX_VALUE / bytes);
    this.bytes = bytes;
    memory = ByteBuffer.allocateDirect(count * bytes).order(ByteOrder.nativeOrder());
  }

  /** One of an array: the one to which it has moved. */
  Struct(Struct array) {
    bytes = array.bytes;
    memory = array.memory;
    base = array.base;
  }

  /** How many structs there is room for. */
  public int capacity() {
    return memory.capacity() / bytes;
  }

  /** The structs as the library sees them. */
  public ByteBuffer memory() {
    return memory;
  }

  void move(int i) {
    if (i < 0 || i >= capacity()) throw new IndexOutOfBoundsException("index " + i + " of " + capacity());
    base = i * bytes;
  }

  static int index(int i, int count) {
    if (i < 0 || i >= count) throw new IndexOutOfBoundsException("index " + i + " of " + count);
    return i;
  }

  static String text(byte[] utf8) {
    return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
  }

  // ------------------------------------------------------------------------------------------------------- arguments

  static <T> T given(String call, String name, T argument) {
    if (argument == null) throw new IllegalArgumentException(call + ": " + name + " is null, and must be given");
    return argument;
  }

  /** For structs of which one is meant. */
  static void one(String call, String name, Struct struct) {
    if (given(call, name, struct).capacity() != 1)
      throw new IllegalArgumentException(call + ": " + name + " is an array of " + struct.capacity()
          + ", of which only the first would count: give one that was made by itself");
  }

  static void notNegative(String call, String name, long value) {
    if (value < 0)
      throw new IllegalArgumentException(call + ": " + name + " is " + value + ": it must be 0 or more");
  }

  static void room(String call, String name, Struct array, int count) {
    given(call, name, array);
    notNegative(call, "count", count);
    if (count > array.capacity())
      throw new IllegalArgumentException(call + ": count is " + count + ", but " + name + " has room for "
          + array.capacity() + ": give a longer array");
  }

  /** Where a direct buffer begins: for structs that point at other memory, which must live as long as they are used. */
  static native long addressOf(ByteBuffer buffer);

  /** The property muster.jni may name the file of the library behind the natives; else it is looked for. */
  static void load() {
    String file = System.getProperty("muster.jni");
    if (file != null) System.load(new java.io.File(file).getAbsolutePath());
    else System.loadLibrary("muster_jni");
  }
}
