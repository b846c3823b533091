/** RaptorQ (RFC 6330), by which the blocks of bulk channels are coded; the classes and names are those of C++. */
package io.spindle.codes;
