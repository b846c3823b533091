// What an event does: a function that is called once.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace spindled::sim {

/// Holds any callable, which need not be copyable. What it captures stands in the object itself, up to `kInlineBytes`:
/// nearly all events of a simulation fit, and none of those takes memory of its own.
class EventAction {
 public:
  EventAction() = default;
  template <typename Callable>
  requires(!std::same_as<std::remove_cvref_t<Callable>, EventAction> && std::invocable<std::remove_cvref_t<Callable>&>)
      // NOLINTNEXTLINE(google-explicit-constructor): as a std::function does
      EventAction(Callable&& callable) {
    using Held = std::remove_cvref_t<Callable>;
    if constexpr (fits<Held>()) {
      new (static_cast<void*>(bytes_)) Held(std::forward<Callable>(callable));
      kind_ = &kInline<Held>;
    } else {
      new (static_cast<void*>(bytes_)) Held*(new Held(std::forward<Callable>(callable)));
      kind_ = &kApart<Held>;
    }
  }
  EventAction(EventAction&& other) noexcept { take(other); }
  EventAction& operator=(EventAction&& other) noexcept {
    if (this == &other) return *this;
    reset();
    take(other);
    return *this;
  }
  EventAction(const EventAction&) = delete;
  EventAction& operator=(const EventAction&) = delete;
  ~EventAction() { reset(); }

  /// Not of an empty one.
  void operator()() { kind_->call(bytes_); }
  /// Lets go of what it holds.
  void reset() {
    if (kind_ != nullptr) std::exchange(kind_, nullptr)->destroy(bytes_);
  }

 private:
  static constexpr std::size_t kInlineBytes = 64;

  struct Kind {
    void (*call)(void* at);
    void (*move)(void* from, void* to);  // and destroys what is at `from`
    void (*destroy)(void* at);
  };

  template <typename Held>
  static constexpr bool fits() {
    return sizeof(Held) <= kInlineBytes && alignof(Held) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<Held>;
  }
  template <typename Held>
  static constexpr Kind kInline = {
      [](void* at) { (*static_cast<Held*>(at))(); },
      [](void* from, void* to) {
        new (to) Held(std::move(*static_cast<Held*>(from)));
        std::destroy_at(static_cast<Held*>(from));
      },
      [](void* at) { std::destroy_at(static_cast<Held*>(at)); },
  };
  template <typename Held>
  static constexpr Kind kApart = {
      [](void* at) { (**static_cast<Held**>(at))(); },
      [](void* from, void* to) { new (to) Held*(*static_cast<Held**>(from)); },
      [](void* at) { delete *static_cast<Held**>(at); },
  };

  void take(EventAction& other) {
    kind_ = std::exchange(other.kind_, nullptr);
    if (kind_ != nullptr) kind_->move(other.bytes_, bytes_);
  }

  alignas(std::max_align_t) std::byte bytes_[kInlineBytes];
  const Kind* kind_ = nullptr;
};

}  // namespace spindled::sim
