#include "bindings/python/src/bulk.h"

#include <algorithm>
#include <memory>
#include <shared_mutex>
#include <stdexcept>

#include "bindings/python/src/arguments.h"
#include "bindings/python/src/events.h"
#include "bindings/python/src/gil.h"
#include "bindings/python/src/session.h"
#include "libclient/src/bulk_host.h"

namespace spindle::python {

namespace {

/// A Bulk that may be closed while calls wait in it.
class SharedBulk {
 public:
  SharedBulk(std::shared_ptr<ChannelDesk> desk, Bulk bulk) : desk_(std::move(desk)), bulk_(std::move(bulk)) {}

  template <typename Call>
  auto with(Call&& call) {
    const std::shared_lock lock(mutex_);
    return call(bulk_);
  }
  /// Waits until jobs that have begun are over: not with the lock of the interpreter.
  void close() {
    desk_->end(Errc::not_connected);  // who waits for an answer in `with` has it
    const std::unique_lock lock(mutex_);
    bulk_ = Bulk();
  }

 private:
  const std::shared_ptr<ChannelDesk> desk_;
  std::shared_mutex mutex_;
  Bulk bulk_;  // guarded by `mutex_`: of calls for several at once
};

struct BulkObject {
  PyObject base;
  std::shared_ptr<SharedBulk>* bulk;
};

std::shared_ptr<SharedBulk>& bulk_of(PyObject* self) { return *reinterpret_cast<BulkObject*>(self)->bulk; }

bool read_string(PyObject* object, std::string& text) {
  std::string kept;
  std::string_view name;
  if (!read_name(object, kept, name)) return false;
  text = name;
  return true;
}

/// (daemon, incarnation, number)
bool read_channel(PyObject* object, ChannelId& channel) {
  const Ref parts(PySequence_Fast(object, "a ChannelId is wanted"));
  if (!parts) return false;
  if (PySequence_Fast_GET_SIZE(parts.get()) != 3) {
    PyErr_SetString(PyExc_TypeError, "a ChannelId is wanted");
    return false;
  }
  return read_string(PySequence_Fast_GET_ITEM(parts.get(), 0), channel.daemon) &&
         read_number(PySequence_Fast_GET_ITEM(parts.get(), 1), channel.incarnation) &&
         read_number(PySequence_Fast_GET_ITEM(parts.get(), 2), channel.number);
}

// --- What streams call ---

/// `read(most)` of Python, as that of a file without buffer: bytes, none at the end, None where there are none at
/// present.
std::optional<std::size_t> call_read(const HeldObject& read, std::span<std::uint8_t> to) {
  constexpr std::size_t kMost = 1u << 20;  // so that the end of a channel is not waited for too long
  const std::size_t most = std::min(to.size(), kMost);
  const Gil gil;
  const Ref content(PyObject_CallFunction(read.get(), "n", static_cast<Py_ssize_t>(most)));
  if (!content) throw std::runtime_error(take_exception());
  if (content.get() == Py_None) return std::nullopt;
  BytesArgument bytes;
  if (!bytes.read(content.get())) throw std::runtime_error(take_exception());
  if (bytes.text().size() > most) throw std::runtime_error("the program has read more than was wanted");
  std::copy(bytes.text().begin(), bytes.text().end(), to.begin());
  return bytes.text().size();
}

/// `write(block)` of Python; what it gives is of no interest.
void call_write(const HeldObject& write, std::span<const std::uint8_t> block) {
  const Gil gil;
  const Ref bytes(to_bytes({reinterpret_cast<const char*>(block.data()), block.size()}));
  const Ref done(bytes ? PyObject_CallFunctionObjArgs(write.get(), bytes.get(), nullptr) : nullptr);
  if (!done) throw std::runtime_error(take_exception());
}

// --- The object ---

/// (session, workers, keep_hashes, hash_directory), and for tests retold_within.
PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject *session = nullptr, *directory = nullptr, *within = nullptr;
    BulkOptions options;
    int keeps = 1;
    if (PyArg_ParseTuple(arguments, "OIpO|O", &session, &options.workers, &keeps, &directory, &within) == 0) {
      return nullptr;
    }
    std::chrono::nanoseconds retold_within = std::chrono::minutes(1);
    if (within != nullptr && !read_seconds(within, retold_within)) return nullptr;
    const SessionObject* const owner = session_of(session);
    if (owner == nullptr || !read_string(directory, options.hash_directory)) return nullptr;
    options.keep_hashes = keeps != 0;
    const std::shared_ptr<ChannelDesk> desk = owner->client->desk();
    if (desk == nullptr || desk->descriptor() < 0) {
      PyErr_SetString(PyExc_ValueError, "the session is not one for bulk channels, or no descriptor is left");
      return nullptr;
    }
    Result<Bulk> bulk = BulkOpener::open(desk, options, retold_within);
    if (!bulk) {
      PyErr_SetString(PyExc_ValueError, bulk.error().message().c_str());
      return nullptr;
    }
    auto shared = std::make_unique<std::shared_ptr<SharedBulk>>(std::make_shared<SharedBulk>(desk, *std::move(bulk)));
    PyObject* const object = type->tp_alloc(type, 0);
    if (object != nullptr) reinterpret_cast<BulkObject*>(object)->bulk = shared.release();
    return object;
  });
}

void dealloc(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  std::shared_ptr<SharedBulk>* const bulk = reinterpret_cast<BulkObject*>(object)->bulk;
  if (bulk != nullptr) {
    const WithoutGil others;
    delete bulk;
  }
  type->tp_free(object);
  Py_DECREF(type);
}

enum class SourceKind : std::uint8_t { file, directory, bytes, stream };

/// (group, kind, content, name, spool, leaves_out, rate, weight, linger, timeout), which waits: a code, a text, the
/// channel or None, and what was left out.
PyObject* offer(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    std::string group, name, spool, path;
    std::uint8_t kind = 0;
    OfferOptions options;
    std::chrono::nanoseconds linger{}, timeout{};
    bool leaves_out = false;
    if (!wants("offer", count, 10) || !read_string(arguments[0], group) || !read_number(arguments[1], kind) ||
        !read_string(arguments[3], name) || !read_string(arguments[4], spool) || !read_flag(arguments[5], leaves_out) ||
        !read_number(arguments[6], options.bytes_per_second) || !read_number(arguments[7], options.weight) ||
        !read_seconds(arguments[8], linger) || !read_seconds(arguments[9], timeout)) {
      return nullptr;
    }
    options.linger = std::chrono::ceil<std::chrono::seconds>(linger);
    options.timeout = timeout;
    std::vector<std::string> left_out;
    std::optional<BulkSource> source;
    switch (static_cast<SourceKind>(kind)) {
      case SourceKind::file:
        if (!read_string(arguments[2], path)) return nullptr;
        source = BulkSource::file(path);
        break;
      case SourceKind::directory:
        if (!read_string(arguments[2], path)) return nullptr;
        source = BulkSource::directory(path, leaves_out ? &left_out : nullptr);
        break;
      case SourceKind::bytes: {
        BytesArgument content;
        if (!content.read(arguments[2])) return nullptr;
        source = BulkSource::bytes({content.text().begin(), content.text().end()});
        break;
      }
      default: {
        const auto read = std::make_shared<HeldObject>(arguments[2]);
        source = BulkSource::stream([read](std::span<std::uint8_t> to) { return call_read(*read, to); }, {}, spool);
      }
    }
    if (!name.empty()) source->named(name);
    const std::shared_ptr<SharedBulk> bulk = bulk_of(self);
    std::optional<Result<ChannelId>> offered;
    {
      const WithoutGil others;
      offered.emplace(bulk->with([&](Bulk& value) { return value.offer(group, *source, options); }));
    }
    const Ref names(to_texts(left_out));
    const Ref text(to_text(*offered ? std::string_view() : offered->text()));
    const Ref channel(*offered ? to_python(**offered) : none());
    const Ref code(result(offered->error()));
    return names && text && channel && code ? PyTuple_Pack(4, code.get(), text.get(), channel.get(), names.get())
                                            : nullptr;
  });
}

/// (channel, kind, where, limit, replace, serve): a code.
PyObject* accept(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    ChannelId channel;
    std::uint8_t kind = 0;
    std::size_t limit = 0;
    std::string path;
    AcceptOptions options;
    if (!wants("accept", count, 6) || !read_channel(arguments[0], channel) || !read_number(arguments[1], kind) ||
        !read_number(arguments[3], limit) || !read_flag(arguments[4], options.replace) ||
        !read_flag(arguments[5], options.serve)) {
      return nullptr;
    }
    std::optional<BulkSink> sink;
    switch (static_cast<SourceKind>(kind)) {
      case SourceKind::file:
        if (!read_string(arguments[2], path)) return nullptr;
        sink = BulkSink::file(path);
        break;
      case SourceKind::directory:
        if (!read_string(arguments[2], path)) return nullptr;
        sink = BulkSink::directory(path);
        break;
      case SourceKind::bytes:
        sink = BulkSink::memory(limit);
        break;
      default: {
        const auto write = std::make_shared<HeldObject>(arguments[2]);
        sink = BulkSink::stream([write](std::span<const std::uint8_t> block) {
          call_write(*write, block);
          return true;
        });
      }
    }
    const std::shared_ptr<SharedBulk> bulk = bulk_of(self);
    std::error_code error;
    {
      const WithoutGil others;
      error = bulk->with([&](Bulk& value) { return value.accept(channel, *sink, options); });
    }
    return result(error);
  });
}

template <typename Ask>
PyObject* ask_about(PyObject* self, PyObject* object, Ask&& ask) {
  return guarded([&]() -> PyObject* {
    ChannelId channel;
    if (!read_channel(object, channel)) return nullptr;
    const std::shared_ptr<SharedBulk> bulk = bulk_of(self);
    std::error_code error;
    {
      const WithoutGil others;
      error = bulk->with([&](Bulk& value) { return ask(value, channel); });
    }
    return result(error);
  });
}

PyObject* refuse(PyObject* self, PyObject* channel) {
  return ask_about(self, channel, [](Bulk& bulk, const ChannelId& id) { return bulk.refuse(id); });
}

PyObject* cancel(PyObject* self, PyObject* channel) {
  return ask_about(self, channel, [](Bulk& bulk, const ChannelId& id) { return bulk.cancel(id); });
}

/// (channel, rate)
PyObject* set_rate(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  std::uint64_t rate = 0;
  if (!wants("set_rate", count, 2) || !read_number(arguments[1], rate)) return nullptr;
  return ask_about(self, arguments[0], [rate](Bulk& bulk, const ChannelId& id) { return bulk.set_rate(id, rate); });
}

PyObject* close(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::shared_ptr<SharedBulk> bulk = bulk_of(self);
    {
      const WithoutGil others;
      bulk->close();
    }
    HeldObject::drop_released();
    return none();
  });
}

PyMethodDef methods[] = {{"offer", as_method(offer), METH_FASTCALL, nullptr},
                         {"accept", as_method(accept), METH_FASTCALL, nullptr},
                         {"refuse", refuse, METH_O, nullptr},
                         {"cancel", cancel, METH_O, nullptr},
                         {"set_rate", as_method(set_rate), METH_FASTCALL, nullptr},
                         {"close", close, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, as_slot(make)},
                       {Py_tp_dealloc, as_slot(dealloc)},
                       {Py_tp_methods, methods},
                       {Py_tp_doc, const_cast<char*>("Bulk channels beside a session.")},
                       {0, nullptr}};

PyType_Spec spec = {"spindle._engine.Bulk", sizeof(BulkObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool add_bulk_type(PyObject* module) {
  const Ref type(PyType_FromSpec(&spec));
  return type && PyObject_SetAttrString(module, "Bulk", type.get()) == 0;
}

}  // namespace spindle::python
