package io.spindle.net;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.List;

/**
 * Private keys in the forms that files have: PKCS #8 (RFC 5958), which Java knows, and the older ones of RSA (RFC 8017, appendix
 * A.1.2) and of elliptic curves (RFC 5915), which become PKCS #8 by what stands around them there.
 */
final class PemKey {
  static final String ENCRYPTED = "the private key is encrypted; `openssl pkey -in FILE` makes it a plain one";

  private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");
  private static final int INTEGER = 0x02;
  private static final int OCTETS = 0x04;
  private static final int IDENTIFIER = 0x06;
  private static final int SEQUENCE = 0x30;
  private static final int PARAMETERS = 0xa0; // [0], of a key of RFC 5915
  private static final byte[] VERSION_0 = {INTEGER, 1, 0};
  // Identifiers of algorithms: rsaEncryption with NULL, and id-ecPublicKey.
  private static final byte[] RSA = {
    SEQUENCE, 13, IDENTIFIER, 9, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 1, 1, 1, 5, 0
  };
  private static final byte[] EC = {IDENTIFIER, 7, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 2, 1};

  private PemKey() {}

  /** `what`: the label of the block of PEM. */
  static PrivateKey decode(String what, byte[] bytes) throws GeneralSecurityException {
    return switch (what) {
      case "PRIVATE KEY" -> decodePlain(bytes);
      case "RSA PRIVATE KEY" -> decodePlain(wrap(RSA, bytes));
      case "EC PRIVATE KEY" -> decodePlain(wrap(value(SEQUENCE, EC, curveOf(bytes)), bytes));
      case "ENCRYPTED PRIVATE KEY" -> throw new GeneralSecurityException(ENCRYPTED);
      default ->
          throw new GeneralSecurityException(
              "\"" + what + "\" is no form of private keys that is known here; `openssl pkey -in FILE` makes it one");
    };
  }

  private static PrivateKey decodePlain(byte[] bytes) throws GeneralSecurityException {
    for (String algorithm : ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
      } catch (GeneralSecurityException other) {
        // The next one, then.
      }
    }
    throw new GeneralSecurityException("the private key is damaged, or of a kind that Java does not know");
  }

  private static byte[] wrap(byte[] algorithm, byte[] key) {
    return value(SEQUENCE, VERSION_0, algorithm, value(OCTETS, key));
  }

  /** In DER: the type, the length, and the parts one after the other. */
  private static byte[] value(int type, byte[]... parts) {
    int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
    ByteArrayOutputStream made = new ByteArrayOutputStream();
    made.write(type);
    if (length < 0x80) {
      made.write(length);
    } else {
      int bytes = length < 0x100 ? 1 : length < 0x10000 ? 2 : 3; // of a file's bytes, which are fewer than 16 MiB
      made.write(0x80 | bytes);
      for (int i = bytes - 1; i >= 0; i--) {
        made.write(length >> 8 * i);
      }
    }
    for (byte[] part : parts) {
      made.writeBytes(part);
    }
    return made.toByteArray();
  }

  /** The identifier of the curve, as it stands in a key: version, key, and [0] with that in it. */
  private static byte[] curveOf(byte[] key) throws GeneralSecurityException {
    int at = contentOf(key, 0, SEQUENCE);
    at = endOf(key, at, INTEGER);
    at = endOf(key, at, OCTETS);
    int from = contentOf(key, at, PARAMETERS);
    return Arrays.copyOfRange(key, from, endOf(key, from, IDENTIFIER));
  }

  private static int byteAt(byte[] bytes, int at) throws GeneralSecurityException {
    if (at >= bytes.length) {
      throw damaged();
    }
    return bytes[at] & 0xff;
  }

  private static GeneralSecurityException damaged() {
    return new GeneralSecurityException("the private key is damaged, or does not name its curve");
  }

  private static int contentOf(byte[] bytes, int at, int type) throws GeneralSecurityException {
    if (byteAt(bytes, at) != type) {
      throw damaged();
    }
    int length = byteAt(bytes, at + 1);
    return at + 2 + (length < 0x80 ? 0 : length & 0x7f);
  }

  private static int endOf(byte[] bytes, int at, int type) throws GeneralSecurityException {
    int from = contentOf(bytes, at, type);
    long length = byteAt(bytes, at + 1);
    if (length >= 0x80) {
      length = 0;
      for (int i = at + 2; i < from; i++) {
        length = length << 8 | byteAt(bytes, i);
        if (length > bytes.length) {
          throw damaged();
        }
      }
    }
    if (from + length > bytes.length) {
      throw damaged();
    }
    return (int) (from + length);
  }
}
