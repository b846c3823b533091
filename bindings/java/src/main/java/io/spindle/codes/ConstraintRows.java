package io.spindle.codes;

/**
 * The sparse equations of a block, by the intermediate symbols that each is about. First the S equations of the LDPC
 * symbols, whose sums are 0, then one for each encoding symbol (RFC 6330, section 5.3.3.4.2). The dense equations of
 * the HDPC symbols are none of them.
 */
final class ConstraintRows {
  private final IntList rowStarts = new IntList();
  final IntList columns = new IntList(); // of row i those from rowStart(i) to rowEnd(i)
  private final int[] columnStarts;
  final int[] rows; // of column i those from columnStart(i) to columnEnd(i)

  ConstraintRows(BlockCode code, int[] isis) {
    rowStarts.add(0);
    appendLdpc(code);
    for (int isi : isis) {
      code.appendTerms(isi, columns);
      rowStarts.add(columns.size);
    }
    columnStarts = new int[code.intermediate + 1];
    rows = new int[columns.size];
    indexColumns();
  }

  private void appendLdpc(BlockCode code) {
    final int count = code.ldpcSymbols;
    IntList[] found = new IntList[count];
    for (int row = 0; row < count; row++) {
      found[row] = new IntList();
    }
    for (int i = 0; i < code.ltOnly; i++) {
      int step = 1 + i / count;
      int row = i % count;
      for (int k = 0; k < 3; k++) {
        found[row].add(i);
        row = (row + step) % count;
      }
    }
    for (int row = 0; row < count; row++) {
      for (int i = 0; i < found[row].size; i++) {
        columns.add(found[row].get(i));
      }
      columns.add(code.ltOnly + row);
      for (int k = 0; k < 2; k++) {
        columns.add(code.ltSymbols + (row + k) % code.inactive);
      }
      rowStarts.add(columns.size);
    }
  }

  private void indexColumns() {
    int count = columnStarts.length - 1;
    for (int i = 0; i < columns.size; i++) {
      columnStarts[columns.get(i) + 1]++;
    }
    for (int i = 0; i < count; i++) {
      columnStarts[i + 1] += columnStarts[i];
    }
    int[] at = columnStarts.clone();
    for (int row = 0; row < rows(); row++) {
      for (int i = rowStart(row); i < rowEnd(row); i++) {
        rows[at[columns.get(i)]++] = row;
      }
    }
  }

  int rows() {
    return rowStarts.size - 1;
  }

  int rowStart(int row) {
    return rowStarts.get(row);
  }

  int rowEnd(int row) {
    return rowStarts.get(row + 1);
  }

  int columnStart(int column) {
    return columnStarts[column];
  }

  int columnEnd(int column) {
    return columnStarts[column + 1];
  }
}
