// A code of which tests see at a glance what it does.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "libclient/codes/erasure_code.h"

namespace spindle::test {

/// The encoding symbol with the id i is the source symbol i modulo their number: a block is there when each source
/// symbol is, by any of its ids. Decoders show which symbols they have.
class RepeatingCode : public codes::ErasureCode {
 public:
  class Decoder : public codes::ErasureDecoder {
   public:
    explicit Decoder(const codes::BlockShape& shape) : ErasureDecoder(shape) {}

    bool add(std::uint32_t esi, const std::uint8_t* symbol) override {
      return held_.try_emplace(esi, symbol, symbol + shape().symbol_bytes).second;
    }
    std::size_t symbols() const override { return held_.size(); }
    std::size_t memory_bytes() const override { return held_.size() * shape().symbol_bytes; }

    /// By their ids.
    const std::map<std::uint32_t, std::vector<std::uint8_t>>& held() const { return held_; }

   private:
    bool try_decode(std::uint8_t* content) const override {
      std::vector<bool> is_there(shape().source_symbols, false);
      for (const auto& [esi, symbol] : held_) {
        const std::uint32_t source = esi % shape().source_symbols;
        if (!is_there[source]) std::copy(symbol.begin(), symbol.end(), content + source * shape().symbol_bytes);
        is_there[source] = true;
      }
      return std::find(is_there.begin(), is_there.end(), false) == is_there.end();
    }
    void forget() override { held_.clear(); }

    std::map<std::uint32_t, std::vector<std::uint8_t>> held_;
  };

  std::uint32_t source_symbols_max() const override { return 1u << 24; }
  std::unique_ptr<codes::ErasureEncoder> make_encoder(const codes::BlockShape& shape) const override {
    return std::make_unique<Encoder>(shape);
  }
  std::unique_ptr<codes::ErasureDecoder> make_decoder(const codes::BlockShape& shape) const override {
    return std::make_unique<Decoder>(shape);
  }
  std::size_t decoding_bytes(const codes::BlockShape& shape) const override { return shape.source_symbols; }

 private:
  class Encoder : public codes::ErasureEncoder {
   public:
    explicit Encoder(const codes::BlockShape& shape) : shape_(shape), content_(shape.bytes()) {}

    void load(const std::uint8_t* content) override { std::copy_n(content, content_.size(), content_.begin()); }
    void encode(std::uint32_t esi, std::uint8_t* symbol) const override {
      std::copy_n(content_.data() + esi % shape_.source_symbols * shape_.symbol_bytes, shape_.symbol_bytes, symbol);
    }
    std::size_t memory_bytes() const override { return content_.size(); }

   private:
    codes::BlockShape shape_;
    std::vector<std::uint8_t> content_;
  };
};

}  // namespace spindle::test
