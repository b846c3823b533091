// What an operation gives: a value, or why there is none.
#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "spindle/error.h"

namespace spindle {

/// Why there is no value: a code for programs, and a sentence for people that says more where there is more to say.
struct Failure {
  std::error_code error;
  std::string text = error.message();
};

/// A `T`, or a Failure.
///
///   auto connection = spindle::Connection::connect({.name = "reader"});
///   if (!connection) return complain(connection.text());
///   connection->join("news");
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                      // NOLINT: implicit on purpose
  Result(Failure failure) : failure_(std::move(failure)) {}          // NOLINT
  Result(std::error_code error) : failure_(Failure{error}) {}        // NOLINT
  Result(Errc code) : Result(static_cast<std::error_code>(code)) {}  // NOLINT

  bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. Where there is none, std::system_error is thrown with the code and the sentence.
  T& value() & {
    check();
    return *value_;
  }
  const T& value() const& {
    check();
    return *value_;
  }
  T value() && {
    check();
    return std::move(*value_);
  }
  /// The value, which there has to be.
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T operator*() && noexcept { return std::move(*value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

  /// No error where there is a value.
  std::error_code error() const noexcept { return failure_.error; }
  /// Empty where there is a value.
  const std::string& text() const noexcept { return failure_.text; }

 private:
  void check() const {
    if (!has_value()) throw std::system_error(failure_.error, failure_.text);
  }

  std::optional<T> value_;
  Failure failure_{{}, {}};
};

}  // namespace spindle
