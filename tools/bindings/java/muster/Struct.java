package muster;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** One struct of the library or an array of them, in memory that the library reads and writes. */
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

  /** Where a direct buffer begins: for structs that point at other memory, which must live as long as they are used. */
  static native long addressOf(ByteBuffer buffer);

  /** The property muster.jni may name the file of the library behind the natives; else it is looked for. */
  static void load() {
    String file = System.getProperty("muster.jni");
    if (file != null) System.load(new java.io.File(file).getAbsolutePath());
    else System.loadLibrary("muster_jni");
  }
}
