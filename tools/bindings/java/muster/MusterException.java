package muster;

/** A call was refused; the message is the library's. */
public final class MusterException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final int result;

  public MusterException(int result, String message) {
    super(message);
    this.result = result;
  }

  /** One of Layout.Result. */
  public int result() {
    return result;
  }

  static MusterException last() {
    return new MusterException(Layout.Native.lastResult(), Layout.Native.lastError());
  }

  static void throwUnless(int result) {
    if (result != Layout.Result.OK) throw last();
  }
}
