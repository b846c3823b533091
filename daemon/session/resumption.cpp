#include "daemon/session/resumption.h"

namespace spindled {

bool Resumption::is_opened_by(const spindle::protocol::SessionKey& key) const {
  unsigned different = key.session == key_.session ? 0 : 1;
  for (std::size_t i = 0; i < key.secret.size(); ++i) {
    different |= static_cast<unsigned>(key.secret[i]) ^ static_cast<unsigned>(key_.secret[i]);
  }
  return different == 0;
}

void Resumption::note_taken(Time now, std::uint64_t frames, std::uint64_t bytes, bool is_news) {
  frames_ = frames;
  bytes_ = bytes;
  if (is_news && !has_news_) news_since_ = now;
  has_news_ = has_news_ || is_news;
}

Time Resumption::tell_at() const {
  if (!has_news_) return kNever;
  return bytes_ - told_bytes_ >= kToldBytes ? news_since_ : news_since_ + kToldPeriod;
}

std::uint64_t Resumption::tell() {
  told_bytes_ = bytes_;
  has_news_ = false;
  return frames_;
}

void ResumeWindow::note_full(Time now, std::uint64_t frames) {
  if (full_since_ != kNever) return;
  full_since_ = now;
  full_with_ = frames;
}

void ResumeWindow::note_got(Time now, std::uint64_t frames, std::size_t limit) {
  if (full_since_ == kNever || frames < full_with_) return;
  const bool is_far = now - full_since_ >= kFar;
  bytes_ = is_far ? std::min(2 * bytes_, std::max(limit, kLeastBytes)) : std::max(bytes_ / 2, kLeastBytes);
  full_since_ = kNever;
}

}  // namespace spindled
