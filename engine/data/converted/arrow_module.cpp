// A table comes in batches of rows, of which one is in memory. Structs are taken apart into
// columns "outer.inner"; lists, maps, unions and bytes are left out, and noted.

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/converted/arrow_table.hpp"
#include "engine/data/converted/table_text.hpp"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {
namespace {

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

tl::unexpected<error> wrong(const arrow::Status& status) {
  // The message may end in lines on where in Arrow's source it was found.
  std::string why = status.message();
  why.resize(std::min(why.find('\n'), why.size()));
  why.resize(why.find_last_not_of('.') + 1);
  return wrong(fmt::format("cannot be read ({}); was it cut off?", printable(why)));
}

/// A column that holds values, and the fields that lead to it from outside.
struct leaf_column {
  std::string name;
  std::vector<int> path;
  bool text = false;
};

bool is_text(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRING || type.id() == arrow::Type::LARGE_STRING
         || type.id() == arrow::Type::STRING_VIEW || type.id() == arrow::Type::DICTIONARY;
}

bool is_read(const arrow::DataType& type) {
  if (type.id() == arrow::Type::DICTIONARY)
    return is_read(*static_cast<const arrow::DictionaryType&>(type).value_type());
  if (type.id() == arrow::Type::EXTENSION)
    return is_read(*static_cast<const arrow::ExtensionType&>(type).storage_type());
  return is_text(type) || arrow::is_primitive(type.id()) || arrow::is_decimal(type.id())
         || type.id() == arrow::Type::NA;
}

/// The seconds and nanoseconds of a moment since 1970.
std::string moment_text(std::int64_t value, arrow::TimeUnit::type unit) {
  constexpr std::array<std::int64_t, 4> parts{1, 1'000, 1'000'000, 1'000'000'000};
  const auto each = parts[static_cast<std::size_t>(unit)];
  auto seconds = value / each, rest = value % each;
  if (rest < 0) {
    rest += each;
    --seconds;
  }
  return date_text(seconds, static_cast<std::uint32_t>(rest * (1'000'000'000 / each)),
                   true);
}

/// Returns how many seconds a unit of `unit` takes.
double unit_seconds(arrow::TimeUnit::type unit) {
  constexpr std::array<double, 4> parts{1, 1e-3, 1e-6, 1e-9};
  return parts[static_cast<std::size_t>(unit)];
}

template<class Array>
auto value_at(const arrow::Array& a, std::int64_t row) {
  return static_cast<const Array&>(a).Value(row);
}

/// Writes a value of a number's or a date's type; false: it is of another.
bool write_time(const arrow::Array& a, std::int64_t row, table_text& out) {
  using namespace arrow;
  constexpr std::int64_t day = 86400;
  const auto unit = [&]<class T>(const T*) {
    return static_cast<const T&>(*a.type()).unit();
  };
  switch (a.type_id()) {
  case Type::DATE32:
    out.field(std::string_view(date_text(value_at<Date32Array>(a, row) * day, 0, false)));
    return true;
  case Type::DATE64:
    out.field(
        std::string_view(date_text(value_at<Date64Array>(a, row) / 1000, 0, false)));
    return true;
  case Type::TIMESTAMP:
    out.field(std::string_view(moment_text(value_at<TimestampArray>(a, row),
                                           unit(static_cast<TimestampType*>(nullptr)))));
    return true;
  case Type::TIME32:
    out.field(value_at<Time32Array>(a, row)
              * unit_seconds(unit(static_cast<Time32Type*>(nullptr))));
    return true;
  case Type::TIME64:
    out.field(static_cast<double>(value_at<Time64Array>(a, row))
              * unit_seconds(unit(static_cast<Time64Type*>(nullptr))));
    return true;
  case Type::DURATION:
    out.field(static_cast<double>(value_at<DurationArray>(a, row))
              * unit_seconds(unit(static_cast<DurationType*>(nullptr))));
    return true;
  default:
    return false;
  }
}

/// With as few digits as a float has.
void write_float(float number, table_text& out) {
  if (std::isnan(number))
    out.blank();
  else
    out.field(std::string_view(fmt::format("{}", number)));
}

bool write_number(const arrow::Array& a, std::int64_t row, table_text& out) {
  using namespace arrow;
  const auto whole = [&](std::int64_t v) {
    out.field(v);
    return true;
  };
  switch (a.type_id()) {
  case Type::BOOL:
    out.field(value_at<BooleanArray>(a, row));
    return true;
  case Type::INT8:
    return whole(value_at<Int8Array>(a, row));
  case Type::INT16:
    return whole(value_at<Int16Array>(a, row));
  case Type::INT32:
    return whole(value_at<Int32Array>(a, row));
  case Type::INT64:
    return whole(value_at<Int64Array>(a, row));
  case Type::UINT8:
    return whole(value_at<UInt8Array>(a, row));
  case Type::UINT16:
    return whole(value_at<UInt16Array>(a, row));
  case Type::UINT32:
    return whole(value_at<UInt32Array>(a, row));
  case Type::UINT64:
    out.field(std::string_view(std::to_string(value_at<UInt64Array>(a, row))));
    return true;
  case Type::HALF_FLOAT:
    out.field(util::Float16::FromBits(value_at<HalfFloatArray>(a, row)).ToDouble());
    return true;
  case Type::FLOAT:
    write_float(value_at<FloatArray>(a, row), out);
    return true;
  case Type::DOUBLE:
    out.field(value_at<DoubleArray>(a, row));
    return true;
  default:
    return false;
  }
}

void write_value(const arrow::Array& a, std::int64_t row, table_text& out) {
  using namespace arrow;
  if (a.IsNull(row) || a.type_id() == Type::NA)
    return out.blank();
  switch (a.type_id()) {
  case Type::STRING:
    return out.field(static_cast<const StringArray&>(a).GetView(row));
  case Type::LARGE_STRING:
    return out.field(static_cast<const LargeStringArray&>(a).GetView(row));
  case Type::STRING_VIEW:
    return out.field(static_cast<const StringViewArray&>(a).GetView(row));
  case Type::DICTIONARY: {
    const auto& coded = static_cast<const DictionaryArray&>(a);
    return write_value(*coded.dictionary(), coded.GetValueIndex(row), out);
  }
  case Type::EXTENSION:
    return write_value(*static_cast<const ExtensionArray&>(a).storage(), row, out);
  default:
    break;
  }
  if (write_number(a, row, out) || write_time(a, row, out))
    return;
  const auto scalar = a.GetScalar(row); // A decimal.
  out.field(std::string_view(scalar.ok() ? (*scalar)->ToString() : ""));
}

class batch_writer {
public:
  explicit batch_writer(const table_choice& which) : out_(which.most_bytes) {}

  expected<void> begin(const arrow::Schema& schema) {
    std::vector<std::string> names;
    for (int i = 0; i < schema.num_fields(); ++i)
      if (auto added = add_column("", {i}, *schema.field(i)); !added)
        return added;
    for (const leaf_column& c : columns_) {
      names.push_back(c.name);
      facts_.texts.push_back(c.text);
    }
    if (names.empty())
      return wrong("has no column of numbers, texts or dates");
    return out_.names(names);
  }

  expected<void> add(const arrow::RecordBatch& batch) {
    if (const auto sound = batch.ValidateFull(); !sound.ok())
      return wrong(sound);
    std::vector<std::shared_ptr<arrow::Array>> arrays;
    for (const leaf_column& c : columns_) {
      auto array = batch.column(c.path.front());
      for (std::size_t i = 1; i < c.path.size(); ++i) {
        auto inner =
            static_cast<const arrow::StructArray&>(*array).GetFlattenedField(c.path[i]);
        if (!inner.ok())
          return wrong(inner.status());
        array = *inner;
      }
      arrays.push_back(std::move(array));
    }
    for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
      for (const auto& array : arrays)
        write_value(*array, row, out_);
      if (auto ended = out_.end_row(); !ended)
        return ended;
    }
    return {};
  }

  converted_table finish(std::string kind) {
    facts_.kind = std::move(kind);
    return {.text = out_.take(), .facts = std::move(facts_)};
  }

private:
  expected<void> add_column(const std::string& outside, const std::vector<int>& path,
                            const arrow::Field& field) {
    constexpr std::size_t deepest = 32;
    const auto name = outside + field.name();
    const auto& type = *field.type();
    if (type.id() == arrow::Type::STRUCT && path.size() < deepest) {
      for (int i = 0; i < type.num_fields(); ++i) {
        auto inner = path;
        inner.push_back(i);
        if (auto added = add_column(name + ".", inner, *type.field(i)); !added)
          return added;
      }
      return {};
    }
    if (!is_read(type)) {
      facts_.notes.push_back(
          fmt::format("{} is of the type {}, which is not learnt from; "
                      "it is left out",
                      in_quotes(name), printable(type.ToString())));
      return {};
    }
    if (columns_.size() == most_table_columns)
      return wrong(fmt::format("has more than {} columns, which are not read",
                               most_table_columns));
    columns_.push_back({.name = name, .path = path, .text = is_text(type)});
    return {};
  }

  std::vector<leaf_column> columns_;
  table_facts facts_;
  table_text out_;
};

expected<converted_table> write_all(arrow::RecordBatchReader& reader,
                                    batch_writer& writer, std::string kind) {
  if (auto begun = writer.begin(*reader.schema()); !begun)
    return tl::unexpected(std::move(begun).error());
  for (;;) {
    std::shared_ptr<arrow::RecordBatch> batch;
    if (const auto status = reader.ReadNext(&batch); !status.ok())
      return wrong(status);
    if (!batch)
      return writer.finish(std::move(kind));
    if (auto added = writer.add(*batch); !added)
      return tl::unexpected(std::move(added).error());
  }
}

expected<converted_table> read_parquet(std::shared_ptr<arrow::Buffer> bytes,
                                       arrow::MemoryPool& pool,
                                       const table_choice& which) {
  constexpr std::int64_t rows_at_once = 8192;
  parquet::ReaderProperties reading(&pool);
  parquet::ArrowReaderProperties made(/*use_threads=*/false);
  made.set_batch_size(rows_at_once);
  made.set_pre_buffer(false);
  parquet::arrow::FileReaderBuilder builder;
  auto status =
      builder.Open(std::make_shared<arrow::io::BufferReader>(std::move(bytes)), reading);
  if (!status.ok())
    return wrong(status);
  auto file = builder.memory_pool(&pool)->properties(made)->Build();
  if (!file.ok())
    return wrong(file.status());
  auto reader = (*file)->GetRecordBatchReader();
  if (!reader.ok())
    return wrong(reader.status());
  batch_writer writer(which);
  return write_all(**reader, writer, "Parquet");
}

expected<converted_table> read_arrow_file(std::shared_ptr<arrow::io::BufferReader> in,
                                          const arrow::ipc::IpcReadOptions& options,
                                          const table_choice& which) {
  auto file = arrow::ipc::RecordBatchFileReader::Open(in.get(), options);
  if (!file.ok())
    return wrong(file.status());
  batch_writer writer(which);
  if (auto begun = writer.begin(*(*file)->schema()); !begun)
    return tl::unexpected(std::move(begun).error());
  for (int i = 0; i < (*file)->num_record_batches(); ++i) {
    auto batch = (*file)->ReadRecordBatch(i);
    if (!batch.ok())
      return wrong(batch.status());
    if (auto added = writer.add(**batch); !added)
      return tl::unexpected(std::move(added).error());
  }
  return writer.finish("Arrow");
}

expected<converted_table> read(std::string_view bytes, const table_choice& which) {
  constexpr std::uint64_t least_pool = std::uint64_t{1} << 30;
  arrow::CappedMemoryPool pool(
      arrow::default_memory_pool(),
      static_cast<std::int64_t>(std::max(which.most_bytes, least_pool)));
  auto buffer =
      std::make_shared<arrow::Buffer>(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                      static_cast<std::int64_t>(bytes.size()));
  if (bytes.starts_with("PAR1"))
    return read_parquet(std::move(buffer), pool, which);
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = &pool;
  options.use_threads = false;
  const auto in = std::make_shared<arrow::io::BufferReader>(std::move(buffer));
  if (bytes.starts_with("ARROW1"))
    return read_arrow_file(in, options, which);
  auto stream = arrow::ipc::RecordBatchStreamReader::Open(in.get(), options);
  if (!stream.ok())
    return wrong(stream.status());
  batch_writer writer(which);
  return write_all(**stream, writer, "Arrow");
}

} // namespace
} // namespace clade

extern "C" bool clade_read_arrow(std::uint32_t version, std::string_view bytes,
                                 const clade::table_choice& which,
                                 clade::expected<clade::converted_table>& out) {
  if (version != clade::arrow_module_version)
    return false;
  try {
    out = clade::read(bytes, which);
  } catch (const std::exception& e) {
    out = clade::fail(clade::error_kind::invalid_input,
                      fmt::format("cannot be read ({}); was it cut off?", e.what()));
  }
  return true;
}
