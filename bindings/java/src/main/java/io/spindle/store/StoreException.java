package io.spindle.store;

import io.spindle.Code;

/** What a store cannot do. */
public final class StoreException extends Exception {
  private static final long serialVersionUID = 1;

  private final Code code;
  private final boolean mayPass;

  public StoreException(Code code, String text) {
    this(code, text, false);
  }

  /** `mayPass`: there may be room later, and nothing is lost of what was written before. */
  public StoreException(Code code, String text, boolean mayPass) {
    super(text);
    this.code = code;
    this.mayPass = mayPass;
  }

  public Code code() {
    return code;
  }

  public boolean mayPass() {
    return mayPass;
  }

  /** Of what was to be written: where there is no room there may be some later. */
  public StoreException orLater() {
    return new StoreException(code, getMessage(), code == Code.NO_SPACE);
  }
}
