/**
 * The client of Spindle, a group communication toolkit: {@link io.spindle.Spindle#connect} is where to begin.
 */
module io.spindle {
  requires jdk.net;

  exports io.spindle;
}
