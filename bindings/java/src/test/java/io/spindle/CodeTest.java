package io.spindle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

final class CodeTest {
  private static final Pattern ROW = Pattern.compile("X\\((\\w+), (\\d+), +\"([^\"]*)\"\\)");

  @Test
  void theTableIsThatOfAllLanguages() throws IOException {
    Path header = Path.of(System.getProperty("spindle.root"), "libclient/include/spindle/error.h");
    Map<Integer, String> wanted = new TreeMap<>();
    for (Matcher row = ROW.matcher(Files.readString(header)); row.find(); ) {
      wanted.put(Integer.parseInt(row.group(2)), row.group(1) + ": " + row.group(3));
    }
    Map<Integer, String> found = new TreeMap<>();
    for (Code code : Code.values()) {
      if (code != Code.UNKNOWN_ERROR) {
        found.put(code.number(), code.identifier() + ": " + code.text());
        assertEquals(code, Code.of(code.number()));
      }
    }
    assertEquals(wanted, found);
    assertEquals(Code.UNKNOWN_ERROR, Code.of(65_535));
  }
}
