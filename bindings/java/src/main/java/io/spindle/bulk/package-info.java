/**
 * Bulk channels without sockets, threads, files and clocks: how content is cut, what receivers lack, the frames of bulk
 * connections, how a receiver puts content together and a holder sends it. What takes long they hand out as jobs. The
 * classes and names are those of C++.
 */
package io.spindle.bulk;
