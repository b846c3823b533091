//! What bench/codes/speed.cpp does, with the crate raptorq. Arguments and output are the same.

use std::process::exit;

use raptorq::{
    EncodingPacket, ObjectTransmissionInformation, SourceBlockDecoder, SourceBlockEncoder,
    SourceBlockEncodingPlan,
};

extern "C" {
    /// Of the C library, which is linked anyway: processor time of the process, in millionths of a second on Linux.
    fn clock() -> std::ffi::c_long;
}

fn processor_seconds() -> f64 {
    unsafe { clock() as f64 * 1e-6 }
}

/// One block, all of an object.
struct Block {
    config: ObjectTransmissionInformation,
    content: Vec<u8>,
    plan: SourceBlockEncodingPlan,
}

impl Block {
    fn new(symbols: u16, symbol_bytes: u16) -> Block {
        let bytes = symbols as usize * symbol_bytes as usize;
        let mut seed: u64 = 1;
        let content = (0..bytes)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (seed >> 56) as u8
            })
            .collect();
        Block {
            config: ObjectTransmissionInformation::new(bytes as u64, symbol_bytes, 1, 1, 1),
            content,
            plan: SourceBlockEncodingPlan::generate(symbols),
        }
    }

    fn encode(&self) -> SourceBlockEncoder {
        SourceBlockEncoder::with_encoding_plan(0, &self.config, &self.content, &self.plan)
    }

    fn decode(&self, packets: Vec<EncodingPacket>) -> Option<Vec<u8>> {
        SourceBlockDecoder::new(0, &self.config, self.content.len() as u64).decode(packets)
    }
}

/// Calls of `step` until it has taken so long; each gives what it took itself.
fn bytes_per_second(block: &Block, seconds: f64, mut step: impl FnMut() -> f64) -> f64 {
    step();
    let (mut count, mut taken) = (0u32, 0.0);
    while taken < seconds {
        taken += step();
        count += 1;
    }
    count as f64 * block.content.len() as f64 / taken
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 5 {
        eprintln!("usage: raptorq_speed encode|decode SYMBOLS SYMBOL_BYTES SECONDS");
        exit(2);
    }
    let symbols: u16 = arguments[2].parse().expect("a number of symbols");
    let symbol_bytes: u16 = arguments[3].parse().expect("bytes of a symbol");
    let seconds: f64 = arguments[4].parse().expect("seconds");

    let block = Block::new(symbols, symbol_bytes);
    let rate = if arguments[1] == "encode" {
        bytes_per_second(&block, seconds, || {
            let start = processor_seconds();
            std::hint::black_box(block.encode());
            processor_seconds() - start
        })
    } else {
        let packets = block.encode().repair_packets(1000, symbols as u32 + 2);
        if block.decode(packets.clone()).as_ref() != Some(&block.content) {
            eprintln!("these symbols do not give the content");
            exit(1);
        }
        bytes_per_second(&block, seconds, || {
            let given = packets.clone();
            let start = processor_seconds();
            std::hint::black_box(block.decode(given));
            processor_seconds() - start
        })
    };
    println!("{rate}");
}
