package io.spindle.store;

import io.spindle.Code;

/** What a store cannot do. */
public final class StoreException extends Exception {
  private static final long serialVersionUID = 1;

  private final Code code;
  private final boolean mayPass;
  private final boolean beginsAnew;

  public StoreException(Code code, String text) {
    this(code, text, false);
  }

  private StoreException(Code code, String text, boolean mayPass, boolean beginsAnew) {
    super(text);
    this.code = code;
    this.mayPass = mayPass;
    this.beginsAnew = beginsAnew;
  }

  /** `mayPass`: there may be room later, and nothing is lost of what was written before. */
  public StoreException(Code code, String text, boolean mayPass) {
    this(code, text, mayPass, false);
  }

  /** All that was written is gone, and no state tells of it: the content is to be received from its beginning. */
  static StoreException beginningAnew(String text) {
    return new StoreException(Code.FILE_FAILED, text, false, true);
  }

  public Code code() {
    return code;
  }

  public boolean mayPass() {
    return mayPass;
  }

  public boolean beginsAnew() {
    return beginsAnew;
  }

  /** Of what was to be written: where there is no room there may be some later. */
  public StoreException orLater() {
    return new StoreException(code, getMessage(), code == Code.NO_SPACE);
  }
}
