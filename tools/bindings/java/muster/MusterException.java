package muster;

import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A call was refused; the message is the call and the library's sentence. */
public final class MusterException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final Pattern DEFAULT = Pattern.compile("muster_(\\w+)_default\\(\\)");
  private static final Pattern LETTER = Pattern.compile("(?:^|_)(.)");
  private final int result;

  public MusterException(int result, String message) {
    super(message);
    this.result = result;
  }

  /** One of Layout.Result. */
  public int result() {
    return result;
  }

  private static String pascal(MatchResult name) {
    return "Layout."
        + LETTER.matcher(name.group(1)).replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT)) + ".defaults()";
  }

  /** The library's sentence behind the call, and with the names that things have in Java. */
  private static String told(String call, String sentence) {
    String about = call.substring(call.indexOf('.') + 1).toLowerCase(Locale.ROOT) + ": ";
    if (sentence.startsWith(about)) sentence = sentence.substring(about.length());
    sentence = sentence.replace("muster_plan_report()", "report()").replace("muster_plan()", "plan()");
    return call + ": " + DEFAULT.matcher(sentence).replaceAll(MusterException::pascal);
  }

  /** `call` is refused; `gone` goes on behind "is gone". */
  static MusterException last(String call, String gone) {
    String told = told(call, Layout.Native.lastError());
    return new MusterException(Layout.Native.lastResult(), told.endsWith("is gone") ? told + gone : told);
  }

  static void throwUnless(int result, String call, String gone) {
    if (result != Layout.Result.OK) throw last(call, gone);
  }

  static void throwUnless(int result, String call) {
    throwUnless(result, call, "");
  }
}
