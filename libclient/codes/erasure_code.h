// What bulk channels need of a code for blocks, whichever code it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace spindle::codes {

/// How a block is cut into source symbols.
struct BlockShape {
  std::uint32_t source_symbols = 0;  // K, at least 1
  std::size_t symbol_bytes = 0;      // T, at least 1

  std::size_t bytes() const { return source_symbols * symbol_bytes; }
  bool operator==(const BlockShape&) const = default;
};

/// Gives the encoding symbols of a block, by their ids (ESI): the source symbols from 0 on, and behind them as many
/// repair symbols as anybody may want, up to 2^24. Several threads may call functions that are const while none calls
/// another one.
class ErasureEncoder {
 public:
  virtual ~ErasureEncoder() = default;

  /// Takes the content of a block: all source symbols, one behind the other, the last one filled up to its length.
  /// The content need not stay. An encoder takes one block after the other in the memory that it has. Most of what
  /// encoding costs is here, so a worker does it.
  virtual void load(const std::uint8_t* content) = 0;
  /// Writes an encoding symbol of the block that was loaded last, `symbol_bytes` long.
  virtual void encode(std::uint32_t esi, std::uint8_t* symbol) const = 0;
  /// What it keeps, whether a block is loaded or not.
  virtual std::size_t memory_bytes() const = 0;
};

/// Collects encoding symbols of a block, in any order, until they give its content. One thread at a time may use it,
/// any one: who collects symbols hands the decoder to a worker, which decodes, and gets it back where they did not
/// suffice.
class ErasureDecoder {
 public:
  explicit ErasureDecoder(const BlockShape& shape) : shape_(shape) {}
  virtual ~ErasureDecoder() = default;
  ErasureDecoder(const ErasureDecoder&) = delete;
  ErasureDecoder& operator=(const ErasureDecoder&) = delete;

  const BlockShape& shape() const { return shape_; }

  /// Takes a copy of the symbol with that id, `symbol_bytes` long. False where it has one with that id already, and
  /// then keeps the former.
  virtual bool add(std::uint32_t esi, const std::uint8_t* symbol) = 0;
  /// How many it has, of different ids.
  virtual std::size_t symbols() const = 0;
  /// What these take. To decode takes more while it lasts; the code says how much (`ErasureCode::decoding_bytes`).
  virtual std::size_t memory_bytes() const = 0;

  /// Whether it is worth to try: there are as many symbols as the block has, and more than at the last failure.
  bool is_decodable() const { return symbols() >= shape_.source_symbols && symbols() > failed_symbols_; }
  /// Writes the content, all source symbols one behind the other. False where what it has does not suffice: more
  /// symbols may; source symbols that it has and `content` had already are there still. Whether the content is right is
  /// not known: it is what the symbols say.
  bool decode(std::uint8_t* content) {
    if (!is_decodable()) return false;
    if (try_decode(content)) return true;
    failed_symbols_ = symbols();
    return false;
  }
  /// Forgets all symbols: it is as new, in the memory that it has.
  void clear() {
    failed_symbols_ = 0;
    forget();
  }

 private:
  virtual bool try_decode(std::uint8_t* content) const = 0;
  virtual void forget() = 0;

  BlockShape shape_;
  std::size_t failed_symbols_ = 0;
};

/// Makes encoders and decoders, which must not outlive it. Several threads may call its functions at once.
class ErasureCode {
 public:
  virtual ~ErasureCode() = default;

  /// So many source symbols a block may have.
  virtual std::uint32_t source_symbols_max() const = 0;
  /// The first encoder of a shape may take as long as loading a block.
  virtual std::unique_ptr<ErasureEncoder> make_encoder(const BlockShape& shape) const = 0;
  virtual std::unique_ptr<ErasureDecoder> make_decoder(const BlockShape& shape) const = 0;
  /// Memory that `decode` takes while it runs, beside symbols and content: at most so much where a decoder has no more
  /// than some symbols beyond those that it needs.
  virtual std::size_t decoding_bytes(const BlockShape& shape) const = 0;
};

}  // namespace spindle::codes
