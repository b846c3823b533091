package io.spindle.codes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Encoding symbols are the same as those of C++, which tests/conformance/twins/codes has written down. */
final class CodesTwinTest {
  private static final int BLOCKS = Integer.getInteger("spindle.blocks", 200);
  private static final long FIRST = Long.getLong("spindle.first", 1);

  private final Random random = new Random(FIRST);
  private BlockEncoder encoder;
  private BlockDecoder decoder;
  private byte[] content;
  private int symbols;
  private int symbolBytes;

  @Test
  void symbolsAreTheSame() throws Exception {
    String program = System.getProperty("spindle.build") + "/tests/codes_record";
    Process process =
        new ProcessBuilder(List.of(program, String.valueOf(FIRST), String.valueOf(BLOCKS)))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    int blocks = 0;
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        if (words[0].equals("block")) {
          finish();
          begin(words);
          blocks++;
        } else {
          compare(Integer.parseInt(words[0]), HexFormat.of().parseHex(words[1]));
        }
      }
    }
    finish();
    assertEquals(0, process.waitFor());
    assertEquals(BLOCKS, blocks);
  }

  private void begin(String[] words) {
    symbols = Integer.parseInt(words[1]);
    symbolBytes = Integer.parseInt(words[2]);
    content = RaptorqTest.contentOf(Long.parseUnsignedLong(words[3]), symbols * symbolBytes);
    encoder = new BlockEncoder(EncodingPlan.of(symbols), content, symbolBytes);
    decoder = new BlockDecoder(symbols, symbolBytes);
  }

  private void compare(int esi, byte[] wanted) {
    byte[] found = new byte[symbolBytes];
    encoder.encode(esi, found, 0);
    assertArrayEquals(wanted, found, symbols + " symbols, " + esi);
    decoder.add(esi, wanted, 0);
  }

  /** With what C++ has made, and a random choice of others, the content comes back. */
  private void finish() {
    if (decoder == null) {
      return;
    }
    boolean isSource = random.nextBoolean();
    while (decoder.symbols() < symbols + 4) {
      int esi = isSource ? random.nextInt(2 * symbols) : symbols + random.nextInt(1_000_000);
      byte[] symbol = new byte[symbolBytes];
      encoder.encode(esi, symbol, 0);
      decoder.add(esi, symbol, 0);
    }
    byte[] decoded = new byte[content.length];
    assertTrue(decoder.decode(decoded), symbols + " symbols");
    assertArrayEquals(content, decoded);
  }
}
