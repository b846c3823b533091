#include "libclient/codes/raptorq_code.h"

namespace spindle::codes {

namespace {

class Encoder : public ErasureEncoder {
 public:
  Encoder(const EncodingPlan& plan, std::size_t symbol_bytes) : encoder_(plan, symbol_bytes) {}

  void load(const std::uint8_t* content) override { encoder_.load(content); }
  void encode(std::uint32_t esi, std::uint8_t* symbol) const override { encoder_.encode(esi, symbol); }
  std::size_t memory_bytes() const override { return encoder_.memory_bytes(); }

 private:
  BlockEncoder encoder_;
};

class Decoder : public ErasureDecoder {
 public:
  explicit Decoder(const BlockShape& shape)
      : ErasureDecoder(shape), decoder_(shape.source_symbols, shape.symbol_bytes) {}

  bool add(std::uint32_t esi, const std::uint8_t* symbol) override { return decoder_.add(esi, symbol); }
  std::size_t symbols() const override { return decoder_.symbols(); }
  std::size_t memory_bytes() const override { return decoder_.memory_bytes(); }

 private:
  bool try_decode(std::uint8_t* content) const override { return decoder_.decode(content); }
  void forget() override { decoder_.clear(); }

  BlockDecoder decoder_;
};

}  // namespace

std::unique_ptr<ErasureEncoder> RaptorQCode::make_encoder(const BlockShape& shape) const {
  return std::make_unique<Encoder>(plans_.of(shape.source_symbols), shape.symbol_bytes);
}

std::unique_ptr<ErasureDecoder> RaptorQCode::make_decoder(const BlockShape& shape) const {
  return std::make_unique<Decoder>(shape);
}

std::size_t RaptorQCode::decoding_bytes(const BlockShape& shape) const {
  return BlockDecoder::decoding_bytes(shape.source_symbols);
}

}  // namespace spindle::codes
