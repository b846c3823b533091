/** Where the content of bulk channels is: files, directories, streams and memory. */
package io.spindle.store;
