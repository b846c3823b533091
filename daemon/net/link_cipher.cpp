#include "daemon/net/link_cipher.h"

#include <algorithm>
#include <span>

#include "daemon/base/check.h"
#include "libclient/tls/openssl_handles.h"

namespace spindled {

struct LinkCipher::Direction {
  Direction(std::span<const std::uint8_t> key, std::span<const std::uint8_t> nonce, bool is_out) {
    context.reset(EVP_CIPHER_CTX_new());
    std::copy(nonce.begin(), nonce.end(), base.begin());
    SPINDLE_CHECK(context != nullptr);
    SPINDLE_CHECK(
        EVP_CipherInit_ex(context.get(), EVP_chacha20_poly1305(), nullptr, key.data(), nullptr, is_out ? 1 : 0) == 1);
  }

  /// Of the datagram of that number; its head is taken in.
  bool begin(std::uint64_t number, ByteView head) {
    std::array<std::uint8_t, kNonceBytes> nonce = base;
    for (std::size_t i = 0; i < 8; ++i) {
      nonce[kNonceBytes - 1 - i] ^= static_cast<std::uint8_t>(number >> (8 * i));
    }
    int taken = 0;
    return EVP_CipherInit_ex(context.get(), nullptr, nullptr, nullptr, nonce.data(), -1) == 1 &&
           EVP_CipherUpdate(context.get(), nullptr, &taken, head.data(), static_cast<int>(head.size())) == 1;
  }
  bool transform(std::span<std::uint8_t> bytes) {
    int done = 0;
    if (bytes.empty()) return true;
    return EVP_CipherUpdate(context.get(), bytes.data(), &done, bytes.data(), static_cast<int>(bytes.size())) == 1;
  }
  bool finish() {
    std::uint8_t none[1];
    int done = 0;
    return EVP_CipherFinal_ex(context.get(), none, &done) == 1;
  }
  bool control(int what, std::span<std::uint8_t> tag) {
    return EVP_CIPHER_CTX_ctrl(context.get(), what, static_cast<int>(tag.size()), tag.data()) == 1;
  }

  spindle::CipherHandle context;
  std::array<std::uint8_t, kNonceBytes> base{};
};

LinkCipher::LinkCipher(const Keys& keys, bool has_dialled) {
  const std::span<const std::uint8_t> all(keys);
  const auto direction = [&](bool of_dialler, bool is_out) {
    const std::span<const std::uint8_t> own = all.subspan(of_dialler ? 0 : kKeyBytes + kNonceBytes);
    return std::make_unique<Direction>(own.first(kKeyBytes), own.subspan(kKeyBytes, kNonceBytes), is_out);
  };
  out_ = direction(has_dialled, true);
  in_ = direction(!has_dialled, false);
}

LinkCipher::~LinkCipher() = default;

void LinkCipher::seal(std::uint64_t number, ByteView head, std::span<std::uint8_t> body) {
  const std::span<std::uint8_t> text = body.first(body.size() - kTagBytes);
  SPINDLE_CHECK(out_->begin(number, head) && out_->transform(text) && out_->finish());
  SPINDLE_CHECK(out_->control(EVP_CTRL_AEAD_GET_TAG, body.last(kTagBytes)));
}

bool LinkCipher::open(std::uint64_t number, ByteView head, std::span<std::uint8_t> body) {
  const std::span<std::uint8_t> text = body.first(body.size() - kTagBytes);
  return in_->begin(number, head) && in_->control(EVP_CTRL_AEAD_SET_TAG, body.last(kTagBytes)) &&
         in_->transform(text) && in_->finish();
}

}  // namespace spindled
