#include "daemon/order/incoming_stream.h"

namespace spindled {

std::size_t PendingMessage::content_size() const {
  std::size_t size = delivery.content_size();
  if (!followers) return size;
  for (const Delivery& follower : *followers) size += follower.content_size();
  return size;
}

bool IncomingStream::accept(const BodyHead& head, Slice first, Slice rest, Delivery& delivery) {
  if (head.number != 0) {
    high_ = head.number;
    ++messages_since_report_;
  }
  bytes_since_report_ += first.size() + rest.size();

  if (head.first) {
    assembling_.reset();  // left unfinished only by an origin that breaks the protocol
    delivery.origin = head.origin;
    delivery.service = head.service;
    delivery.message_class = head.message_class;
    delivery.first = std::move(first);
    if (!rest.empty()) delivery.rest.push_back(std::move(rest));
    if (!head.last) assembling_ = std::move(delivery);
  } else {
    if (!assembling_) return false;
    if (!first.empty()) assembling_->rest.push_back(std::move(first));
    if (!rest.empty()) assembling_->rest.push_back(std::move(rest));
    if (head.last) delivery = *std::exchange(assembling_, std::nullopt);
  }
  delivery.number = head.number;
  return head.last;
}

void IncomingStream::accept_ordered(const BodyHead& head, Slice first, Slice rest) {
  // Put together where it waits for its place.
  PendingMessage& pending = ordered_.push_back();
  pending.seen = head.seen;
  if (accept(head, std::move(first), std::move(rest), pending.delivery)) {
    ordered_bytes_ += pending.delivery.content_size();
  } else {
    ordered_.pop_back();
  }
}

void IncomingStream::retain(std::uint64_t number, const Slice& body) {
  retained_bytes_ += body.size();
  RetainedBody& kept = retained_.push_back();
  kept.number = number;
  kept.head = body;
}

void IncomingStream::copy_retained(std::uint64_t first, std::size_t bytes_max, SlabPool& pool) {
  std::size_t bytes = 0;
  std::size_t begin = retained_.size();
  while (begin != 0 && retained_[begin - 1].number >= first) {
    bytes += retained_[--begin].size();
    if (bytes >= bytes_max) return;
  }
  for (; begin < retained_.size(); ++begin) {
    Slice& body = retained_[begin].head;
    if (!copies_ || copies_->capacity() - copied_ < body.size()) {
      copies_ = pool.take(body.size());
      copied_ = 0;
    }
    std::uint8_t* const at = copies_->bytes() + copied_;
    std::copy_n(body.data(), body.size(), at);
    copied_ += body.size();
    body = Slice(copies_, at, body.size());
  }
}

bool IncomingStream::follow(std::uint64_t number, Delivery& delivery) {
  // `number` itself may have been addressed elsewhere while an earlier message of the same sender waits here. Who waits
  // is not known by sender, so the message goes behind all that could be it.
  std::size_t behind = 0;
  std::size_t end = ordered_.size();
  while (behind < end) {
    const std::size_t middle = (behind + end) / 2;
    if (ordered_[middle].delivery.number <= number) {
      behind = middle + 1;
    } else {
      end = middle;
    }
  }
  if (behind == 0) return false;
  PendingMessage& leader = ordered_[behind - 1];
  if (!leader.followers) leader.followers = std::make_unique<std::vector<Delivery>>();
  ordered_bytes_ += delivery.content_size();
  leader.followers->push_back(std::move(delivery));
  return true;
}

void IncomingStream::release(std::uint64_t line) {
  while (!retained_.empty() && retained_.front().number <= line) {
    retained_bytes_ -= retained_.pop_front().size();
  }
  if (retained_.empty()) copies_.reset();
}

}  // namespace spindled
