package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** The forms that private keys have in files. */
final class TlsBundleTest {
  // One key as OpenSSL 3.0.19 writes it: `openssl ecparam -name prime256v1 -genkey`, and `openssl pkey` of that.
  private static final String CURVE = "BggqhkjOPQMBBw==";
  private static final String OF_CURVE =
      "MHcCAQEEIA+wAiXf2v0BDCjCRa0Hk7XCqiKB0OVSs7t27HakJB/ooAoGCCqGSM49\n"
          + "AwEHoUQDQgAEd1rYgHcE/e28b5NmsN7vLznsFZWSS9Tu6tj0dasJ9soVPlXloB1t\n"
          + "gG2+YcrS8tXgx2Z+VcE73mkWwEzeOjph1A==";
  private static final String PLAIN =
      "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgD7ACJd/a/QEMKMJF\n"
          + "rQeTtcKqIoHQ5VKzu3bsdqQkH+ihRANCAAR3WtiAdwT97bxvk2aw3u8vOewVlZJL\n"
          + "1O7q2PR1qwn2yhU+VeWgHW2Abb5hytLy1eDHZn5VwTveaRbATN46OmHU";
  private static final int RSA_KEY_AT = 26; // in PKCS #8, of a key of 2,048 bits

  private static String pem(String label, String content) {
    return "-----BEGIN " + label + "-----\n" + content + "\n-----END " + label + "-----\n";
  }

  private static String pem(String label, byte[] content) {
    return pem(label, Base64.getMimeEncoder().encodeToString(content));
  }

  private static PrivateKey keyOf(String text) throws IOException {
    Path file = Files.createTempFile("bundle", ".pem");
    try {
      Files.writeString(file, text);
      return TlsBundle.read(file).key;
    } finally {
      Files.delete(file);
    }
  }

  private static void assertRefused(String why, String text) {
    String said = assertThrows(Link.ProtectionFailed.class, () -> keyOf(text)).getMessage();
    assertTrue(said.contains(why), said);
  }

  @Test
  void aKeyOfACurveHasTwoForms() throws Exception {
    ECPrivateKey plain = (ECPrivateKey) keyOf(pem("PRIVATE KEY", PLAIN));
    ECPrivateKey old = (ECPrivateKey) keyOf(pem("EC PARAMETERS", CURVE) + pem("EC PRIVATE KEY", OF_CURVE));
    assertEquals(plain.getS(), old.getS());
    assertEquals(plain.getParams().getCurve(), old.getParams().getCurve());
  }

  @Test
  void aKeyOfRsaHasTwoForms() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    PrivateKey key = generator.generateKeyPair().getPrivate();
    byte[] plain = key.getEncoded();
    assertEquals(key, keyOf(pem("PRIVATE KEY", plain)));
    assertEquals(key, keyOf(pem("RSA PRIVATE KEY", Arrays.copyOfRange(plain, RSA_KEY_AT, plain.length))));
  }

  @Test
  void whatCannotBeReadIsSaid() {
    String old = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,64E96614DD67922A\n\n" + OF_CURVE;
    assertRefused("encrypted", pem("RSA PRIVATE KEY", old));
    assertRefused("encrypted", pem("ENCRYPTED PRIVATE KEY", PLAIN));
    assertRefused("openssl pkey", pem("DSA PRIVATE KEY", PLAIN));
    assertRefused("two private keys", pem("PRIVATE KEY", PLAIN) + pem("EC PRIVATE KEY", OF_CURVE));
  }

  /** Whatever is cut off or changed, it is a key or an error. */
  @Test
  void damageIsNoticed() throws Exception {
    byte[] whole = Base64.getMimeDecoder().decode(OF_CURVE);
    for (int length = 0; length < whole.length; length++) {
      assertRefused("damaged", pem("EC PRIVATE KEY", Arrays.copyOf(whole, length)));
    }
    for (int at = 0; at < whole.length; at++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] changed = whole.clone();
        changed[at] ^= 1 << bit;
        try {
          keyOf(pem("EC PRIVATE KEY", changed));
        } catch (Link.ProtectionFailed refused) {
          assertTrue(refused.getMessage().contains("damaged"), refused.getMessage());
        }
      }
    }
  }
}
