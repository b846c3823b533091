// What protects the datagrams of a link.
#include "daemon/net/link_cipher.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <vector>

namespace spindled {
namespace {

using Bytes = std::vector<std::uint8_t>;

LinkCipher::Keys some_keys(std::uint8_t first) {
  LinkCipher::Keys keys;
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

class LinkCipherTest : public testing::Test {
 protected:
  Bytes sealed(LinkCipher& by, std::uint64_t number, std::string_view text) {
    Bytes body(text.begin(), text.end());
    body.resize(text.size() + DatagramCipher::kTagBytes);
    by.seal(number, head_, body);
    return body;
  }
  bool opens(LinkCipher& by, std::uint64_t number, Bytes body, std::string_view text) {
    if (!by.open(number, head_, body)) return false;
    EXPECT_EQ(spindle::as_text(ByteView(body).first(text.size())), text);
    return true;
  }

  Bytes head_ = Bytes(12, 7);
  LinkCipher dialler_{some_keys(1), true};
  LinkCipher acceptor_{some_keys(1), false};
};

TEST_F(LinkCipherTest, OpensWhatTheOtherEndHasSealed) {
  for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 40}) {
    for (const std::string_view text :
         {"", "a", "a longer text that takes more than one block of the cipher, does it not?"}) {
      EXPECT_TRUE(opens(acceptor_, number, sealed(dialler_, number, text), text));
      EXPECT_TRUE(opens(dialler_, number, sealed(acceptor_, number, text), text));
    }
  }
}

TEST_F(LinkCipherTest, HasOtherKeysInEachDirectionAndForEachNumber) {
  EXPECT_NE(sealed(dialler_, 1, "text"), sealed(acceptor_, 1, "text"));
  EXPECT_NE(sealed(dialler_, 1, "text"), sealed(dialler_, 2, "text"));
  EXPECT_FALSE(opens(dialler_, 1, sealed(dialler_, 1, "text"), "text")) << "its own, thrown back";
  EXPECT_FALSE(opens(acceptor_, 2, sealed(dialler_, 1, "text"), "text"));
  EXPECT_FALSE(opens(acceptor_, 1 + (std::uint64_t{1} << 32), sealed(dialler_, 1, "text"), "text"));
}

TEST_F(LinkCipherTest, NoticesEachBitThatIsChanged) {
  const Bytes body = sealed(dialler_, 1, "text");
  for (std::size_t bit = 0; bit < 8 * body.size(); ++bit) {
    Bytes changed = body;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    EXPECT_FALSE(opens(acceptor_, 1, changed, "text")) << bit;
  }
  head_[3] ^= 1;
  EXPECT_FALSE(opens(acceptor_, 1, body, "text")) << "the head is protected, too";
  head_[3] ^= 1;
  EXPECT_TRUE(opens(acceptor_, 1, body, "text"));
}

TEST_F(LinkCipherTest, OthersKeysOpenNothing) {
  LinkCipher other(some_keys(2), false);
  EXPECT_FALSE(opens(other, 1, sealed(dialler_, 1, "text"), "text"));
}

}  // namespace
}  // namespace spindled
