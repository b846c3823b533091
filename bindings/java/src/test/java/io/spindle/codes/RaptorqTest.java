package io.spindle.codes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

/** RaptorQ against its definition, against other implementations, and against a dumb model. */
final class RaptorqTest {
  /** As tests/support/known_content.h has it. */
  static byte[] contentOf(long seed, int bytes) {
    byte[] content = new byte[bytes];
    long state = seed;
    for (int i = 0; i < bytes; i++) {
      state = state * 6364136223846793005L + 1442695040888963407L;
      content[i] = (byte) (state >>> 56);
    }
    return content;
  }

  /** A block of drawn content with its encoder. */
  private static final class Block {
    final int symbolBytes;
    final byte[] content;
    final BlockEncoder encoder;

    Block(int symbols, int symbolBytes, long seed) {
      this.symbolBytes = symbolBytes;
      content = contentOf(seed, symbols * symbolBytes);
      encoder = new BlockEncoder(EncodingPlan.of(symbols), content, symbolBytes);
    }

    byte[] symbol(int esi) {
      byte[] symbol = new byte[symbolBytes];
      encoder.encode(esi, symbol, 0);
      return symbol;
    }
  }

  @Test
  void tablesAreThoseOfTheRfc() {
    int before = 0;
    for (int row = 0; row < Tables.rows(); row++) {
      int symbols = Tables.value(row, 0);
      assertTrue(symbols > before);
      before = symbols;
      BlockCode code = new BlockCode(symbols);
      assertEquals(symbols, code.symbols);
      assertTrue(code.ltOnly > 0 && code.inactive >= code.hdpcSymbols);
      for (int prime : new int[] {code.ldpcSymbols, code.ltSymbols, code.inactivePrime}) {
        for (int i = 2; i * i <= prime; i++) {
          assertTrue(prime % i != 0);
        }
      }
    }
    assertEquals(477, Tables.rows());
    assertEquals(BlockCode.SYMBOLS_MAX, before);
    assertEquals(251291136, Tables.random(0, 0));
    assertEquals(10, new BlockCode(1).symbols);
    assertEquals(1002, new BlockCode(1000).symbols);
    assertEquals(299, new BlockCode(1000).systematicIndex);
  }

  @Test
  void degreesFollowTheirTable() {
    assertEquals(1, BlockCode.degree(0, 100));
    assertEquals(1, BlockCode.degree(5_242, 100));
    assertEquals(2, BlockCode.degree(5_243, 100));
    assertEquals(30, BlockCode.degree(1_048_575, 100));
    assertEquals(15, BlockCode.degree(1_048_575, 17));
  }

  @Test
  void sourceSymbolsAreEncodingSymbols() {
    for (int symbols : new int[] {1, 2, 9, 10, 11, 100, 777}) {
      Block block = new Block(symbols, 24, symbols);
      for (int esi = 0; esi < symbols; esi++) {
        assertArrayEquals(Arrays.copyOfRange(block.content, 24 * esi, 24 * esi + 24), block.symbol(esi));
      }
    }
  }

  @Test
  void agreesWithAnotherImplementation() throws IOException {
    Path answers = Path.of(System.getProperty("spindle.root"), "tests/unit/known_answers/raptorq.txt");
    int count = 0;
    for (String line : Files.readAllLines(answers)) {
      if (line.startsWith("#")) {
        continue;
      }
      String[] words = line.split(" ");
      int symbols = Integer.parseInt(words[0]);
      Block block = new Block(symbols, Integer.parseInt(words[1]), symbols);
      CRC32 seen = new CRC32();
      for (int first : new int[] {symbols, Integer.parseInt(words[2])}) {
        for (int i = 0; i < 10; i++) {
          seen.update(block.symbol(first + i));
        }
      }
      assertEquals(Long.parseLong(words[3], 16), seen.getValue(), line);
      count++;
    }
    assertEquals(40, count);
  }

  @Test
  void decodesWhateverIsLost() {
    Random random = new Random(5);
    for (int round = 0; round < 60; round++) {
      int symbols = 1 + random.nextInt(round % 10 == 0 ? 1500 : 120);
      Block block = new Block(symbols, 1 + random.nextInt(40), random.nextLong());
      BlockDecoder decoder = new BlockDecoder(symbols, block.symbolBytes);
      int lostPercent = random.nextInt(101);
      List<Integer> esis = new ArrayList<>();
      for (int esi = 0; esi < symbols; esi++) {
        if (random.nextInt(100) >= lostPercent) {
          esis.add(esi);
        }
      }
      for (int esi = symbols + random.nextInt(1_000_000); esis.size() < symbols + 3; esi++) {
        esis.add(esi);
      }
      Collections.shuffle(esis, random);
      byte[] content = new byte[block.content.length];
      for (int esi : esis) {
        assertTrue(decoder.symbols() >= symbols || !decoder.decode(content));
        byte[] symbol = block.symbol(esi);
        assertTrue(decoder.add(esi, symbol, 0));
        assertFalse(decoder.add(esi, symbol, 0));
      }
      assertTrue(decoder.decode(content), symbols + " symbols");
      assertArrayEquals(block.content, content);
    }
  }

  /** Symbols are worked on in stripes, of which the last may be short. */
  @Test
  void symbolsHaveAnySize() {
    for (int bytes : new int[] {1, 7, 8, 63, 255, 256, 511, 512, 513, 1000, 1024, 1025, 2500}) {
      Block block = new Block(30, bytes, bytes);
      BlockDecoder decoder = new BlockDecoder(30, bytes);
      for (int esi = 20; esi < 53; esi++) {
        decoder.add(esi, block.symbol(esi), 0);
      }
      byte[] content = new byte[block.content.length];
      assertTrue(decoder.decode(content));
      assertArrayEquals(block.content, content, bytes + " bytes");
      assertArrayEquals(Arrays.copyOfRange(content, 29 * bytes, 30 * bytes), block.symbol(29));
    }
  }

  /** Symbols that are at their places in the content already are left there. */
  @Test
  void decodesInPlace() {
    Block block = new Block(100, 32, 3);
    byte[] content = block.content.clone();
    Arrays.fill(content, 40 * 32, 50 * 32, (byte) 0);
    BlockDecoder decoder = new BlockDecoder(100, 32);
    for (int esi = 0; esi < 100; esi++) {
      if (esi < 40 || esi >= 50) {
        decoder.add(esi, content, esi * 32);
      }
    }
    for (int esi = 1000; esi < 1013; esi++) {
      decoder.add(esi, block.symbol(esi), 0);
    }
    assertTrue(decoder.decode(content));
    assertArrayEquals(block.content, content);
  }

  /** The matrix of section 5.3.3.4.2, written out, and its rank. */
  private static final class DenseModel {
    private final BlockCode code;
    private final List<int[]> rows = new ArrayList<>();

    DenseModel(BlockCode code, int[] isis) {
      this.code = code;
      appendLdpc();
      appendHdpc();
      for (int isi : isis) {
        IntList terms = new IntList();
        code.appendTerms(isi, terms);
        int[] row = addRow();
        for (int term : terms.toArray()) {
          row[term] ^= 1;
        }
      }
    }

    private int[] addRow() {
      int[] row = new int[code.intermediate];
      rows.add(row);
      return row;
    }

    private void appendLdpc() {
      int count = code.ldpcSymbols;
      for (int i = 0; i < count; i++) {
        int[] row = addRow();
        row[code.ltOnly + i] ^= 1;
        row[code.ltSymbols + i % code.inactive] ^= 1;
        row[code.ltSymbols + (i + 1) % code.inactive] ^= 1;
      }
      for (int i = 0; i < code.ltOnly; i++) {
        int a = 1 + i / count;
        int b = i % count;
        for (int k = 0; k < 3; k++) {
          rows.get(b)[i] ^= 1;
          b = (b + a) % count;
        }
      }
    }

    private void appendHdpc() {
      int columns = code.symbols + code.ldpcSymbols;
      int count = code.hdpcSymbols;
      int[][] mt = new int[count][columns];
      for (int j = 0; j + 1 < columns; j++) {
        int i = BlockCode.random(j + 1, 6, count);
        mt[i][j] = 1;
        mt[(i + BlockCode.random(j + 1, 7, count - 1) + 1) % count][j] = 1;
      }
      for (int i = 0; i < count; i++) {
        mt[i][columns - 1] = Gf256.power(i);
        int[] row = addRow();
        for (int j = 0; j < columns; j++) {
          for (int k = j; k < columns; k++) {
            row[j] ^= Gf256.multiply(mt[i][k], Gf256.power(k - j));
          }
        }
        row[columns + i] = 1;
      }
    }

    boolean hasFullRank() {
      int rank = 0;
      for (int column = 0; column < code.intermediate; column++) {
        int pivot = rank;
        while (pivot < rows.size() && rows.get(pivot)[column] == 0) {
          pivot++;
        }
        if (pivot == rows.size()) {
          return false;
        }
        Collections.swap(rows, pivot, rank);
        int[] from = rows.get(rank);
        for (int other = rank + 1; other < rows.size(); other++) {
          int[] row = rows.get(other);
          if (row[column] == 0) {
            continue;
          }
          int factor = Gf256.multiply(row[column], Gf256.invert(from[column]));
          for (int i = column; i < code.intermediate; i++) {
            row[i] ^= Gf256.multiply(factor, from[i]);
          }
        }
        rank++;
      }
      return true;
    }
  }

  @Test
  void solvesWhereTheMatrixHasFullRank() {
    Random random = new Random(11);
    int failures = 0;
    for (int round = 0; round < 200; round++) {
      BlockCode code = new BlockCode(1 + random.nextInt(40));
      Set<Integer> drawn = new TreeSet<>();
      // Few different ones, some of them too few: then many matrices do not have it.
      int count = code.symbols - (round % 5 == 0 ? 1 : 0) + random.nextInt(2);
      while (drawn.size() < count) {
        drawn.add(random.nextInt(100_000));
      }
      int[] isis = drawn.stream().mapToInt(Integer::intValue).toArray();
      boolean isSolved = Solver.solve(code, isis) != null;
      assertEquals(new DenseModel(code, isis).hasFullRank(), isSolved, "round " + round);
      failures += isSolved ? 0 : 1;
    }
    assertTrue(failures > 10);
  }

  @Test
  void eachTermIsThereOnce() {
    for (int symbols : new int[] {1, 10, 55, 1000, BlockCode.SYMBOLS_MAX}) {
      BlockCode code = new BlockCode(symbols);
      for (int isi = 0; isi < 1000; isi++) {
        IntList terms = new IntList();
        code.appendTerms(isi, terms);
        Set<Integer> distinct = new HashSet<>();
        for (int term : terms.toArray()) {
          assertTrue(term < code.intermediate && distinct.add(term));
        }
      }
    }
  }
}
