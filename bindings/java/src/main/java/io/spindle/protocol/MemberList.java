package io.spindle.protocol;

import io.spindle.Name;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Private names in the agreed order, and their digest: by the names of their daemons, those of one daemon as they joined.
 * docs/wire-format.md defines both for all languages.
 */
public final class MemberList {
  private static final long FNV_PRIME = 0x100000001b3L;

  private List<Name> names;
  private long digest;

  /**
   * A list as a daemon has told it.
   *
   * @param names in the agreed order
   */
  public MemberList(List<Name> names) {
    this.names = names;
    this.digest = digestOf(names);
  }

  /** FNV-1a of 64 bits. */
  static long hashOf(Name name) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < name.size(); i++) {
      hash = (hash ^ (name.byteAt(i) & 0xff)) * FNV_PRIME;
    }
    return hash;
  }

  private static long digestOf(List<Name> names) {
    long digest = 0;
    for (Name name : names) {
      digest = digest * FNV_PRIME + hashOf(name);
    }
    return digest;
  }

  /**
   * Those of a list that are not among others.
   *
   * @param members the list
   * @param others who is left out
   * @return in their order
   */
  public static List<Name> without(List<Name> members, Collection<Name> others) {
    Set<Name> leftOut = others instanceof Set<Name> set ? set : new HashSet<>(others);
    return members.stream().filter(each -> !leftOut.contains(each)).toList();
  }

  /**
   * The names in the agreed order.
   *
   * @return an unmodifiable list, which does not change
   */
  public List<Name> names() {
    return names;
  }

  /**
   * Their digest.
   *
   * @return 64 bits
   */
  public long digest() {
    return digest;
  }

  /**
   * Takes those who left out and adds those who joined, each behind the last member of its daemon, and of those before it.
   *
   * @param joined in their order
   * @param left in any order
   * @return false where one that left was not in the list, which is then not to be used any more
   */
  public boolean apply(List<Name> joined, List<Name> left) {
    List<Name> rest = left.isEmpty() ? names : without(names, left);
    if (rest.size() + left.size() != names.size()) {
      return false;
    }
    List<Name> all = new ArrayList<>(rest.size() + joined.size());
    all.addAll(rest);
    all.addAll(joined);
    all.sort(Comparator.comparing(Names::daemonOf)); // keeps the order of equal ones
    names = Collections.unmodifiableList(all);
    digest = digestOf(names);
    return true;
  }
}
