// Mirrors: aten/src/ATen/native/cpu/SortingKernel.cpp
//
// Stable sorting of rows. The rungs: sort_row_by_comparison is the plain one; sort_row_by_insertion is for the shortest
// rows; sort_row_by_key sorts unsigned keys; sort_row_by_radix is for long rows and needs no comparison. Left out:
// x86-simd-sort.
#include <ATen/Dispatch.h>
#include <ATen/native/NanLast.h>
#include <ATen/native/Sorting.h>
#include <ATen/native/cpu/DimApply.h>
#include <ATen/native/cpu/Scratch.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

namespace reftorch::at::native {
namespace {

template <typename scalar_t>
void sort_row_by_comparison(Row<const scalar_t> in, int64_t* order, bool descending) {
  std::iota(order, order + in.size, 0);
  if (descending) {
    std::stable_sort(order, order + in.size, [&](int64_t a, int64_t b) { return greater_nan_first(in[a], in[b]); });
  } else {
    std::stable_sort(order, order + in.size, [&](int64_t a, int64_t b) { return less_nan_last(in[a], in[b]); });
  }
}

// Moves each element down past the elements that belong behind it; the fastest way for a few elements.
template <typename scalar_t, typename Before>
void sort_row_by_insertion(Row<const scalar_t> in, Row<scalar_t> out, Row<int64_t> places, const Before& before) {
  for (int64_t i = 0; i < in.size; i++) {
    const scalar_t value = in[i];
    int64_t j = i;
    for (; j > 0 && before(value, out[j - 1]); j--) {
      out[j] = out[j - 1];
      places[j] = places[j - 1];
    }
    out[j] = value;
    places[j] = i;
  }
}

// Note [Radix keys]
// Problem: a radix sort orders unsigned integers digit by digit, but floats and negative numbers have other bit
// patterns.
// Trick: each element gets an unsigned key, and the keys have the order of the elements. The key of an integer is its
// bits with the sign bit flipped. The bits of positive floats are already in order, and those of negative floats are in
// reverse order: the key of a negative float has all bits flipped, and the key of any other float has the sign bit
// flipped. Equal numbers must have equal keys, or the sort would not be stable; therefore -0 gets the key of 0, and
// every NaN gets the largest key.
template <typename scalar_t>
using key_type = std::conditional_t<
    sizeof(scalar_t) == 8, uint64_t,
    std::conditional_t<sizeof(scalar_t) == 4, uint32_t, std::conditional_t<sizeof(scalar_t) == 2, uint16_t, uint8_t>>>;

template <typename scalar_t>
key_type<scalar_t> radix_key(scalar_t value) {
  using key_t = key_type<scalar_t>;
  constexpr key_t sign = key_t(1) << (8 * sizeof(key_t) - 1);
  if constexpr (std::is_integral_v<scalar_t>) {
    return std::is_signed_v<scalar_t> ? key_t(value) ^ sign : key_t(value);
  } else {
    if (is_nan(value)) {
      return std::numeric_limits<key_t>::max();
    }
    key_t bits = 0;
    if (opmath_type<scalar_t>(value) != 0) {
      std::memcpy(&bits, &value, sizeof(bits));
    }
    return bits & sign ? key_t(~bits) : key_t(bits | sign);
  }
}

// The keys of a row, minus the smallest key (in descending order: the largest key minus the key). The subtraction makes
// keys small, because the integers of a row often have a small range.
template <typename scalar_t>
class RowKeys {
 public:
  using key_t = key_type<scalar_t>;

  RowKeys(Row<const scalar_t> in, bool descending) : in_(in), descending_(descending) {
    for (int64_t i = 0; i < in.size; i++) {
      const key_t key = radix_key(in[i]);
      low_ = std::min(low_, key);
      high_ = std::max(high_, key);
    }
  }
  int64_t size() const {
    return in_.size;
  }
  key_t largest() const {
    return high_ - low_;
  }
  bool fit_half_a_word() const {
    return largest() <= std::numeric_limits<uint32_t>::max();
  }
  key_t operator[](int64_t i) const {
    const key_t key = radix_key(in_[i]);
    return descending_ ? high_ - key : key - low_;
  }

 private:
  Row<const scalar_t> in_;
  bool descending_;
  key_t low_ = std::numeric_limits<key_t>::max(), high_ = 0;
};

// For short rows. The position is a part of the key and makes equal keys different, so any sort is stable. Key and
// position fit in one or two words.
template <typename scalar_t>
void sort_row_by_key(const RowKeys<scalar_t>& keys, int64_t* order) {
  if (keys.fit_half_a_word()) {
    Scratch<uint64_t> words(keys.size());
    for (int64_t i = 0; i < keys.size(); i++) {
      words[i] = uint64_t(keys[i]) << 32 | uint64_t(i);
    }
    std::sort(words.begin(), words.end());
    for (int64_t i = 0; i < keys.size(); i++) {
      order[i] = static_cast<int64_t>(words[i] & 0xffffffff);
    }
  } else {
    std::vector<std::pair<uint64_t, int64_t>> pairs(keys.size());
    for (int64_t i = 0; i < keys.size(); i++) {
      pairs[i] = {keys[i], i};
    }
    std::sort(pairs.begin(), pairs.end());
    for (int64_t i = 0; i < keys.size(); i++) {
      order[i] = pairs[i].second;
    }
  }
}

constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;

template <typename word_t>
struct RadixElement {
  word_t word;
  uint32_t place;
};

// Sorts by one digit after another, the lowest digit first; each pass is stable. A pass counts the elements by digit,
// then moves each to its bucket. Returns the sorted elements, which are in `elements` or in `moved`. `largest` is the
// largest word.
template <typename word_t>
RadixElement<word_t>* radix_sort(RadixElement<word_t>* elements, RadixElement<word_t>* moved, int64_t n,
                                 word_t largest) {
  constexpr int kMaxPasses = (8 * sizeof(word_t) + kDigitBits - 1) / kDigitBits;
  int passes = 0;
  while (passes < kMaxPasses && largest >> (passes * kDigitBits) != 0) {
    passes++;
  }
  std::vector<uint32_t> counts(passes * kDigits, 0);
  for (int64_t i = 0; i < n; i++) {
    for (int pass = 0; pass < passes; pass++) {
      counts[pass * kDigits + (elements[i].word >> (pass * kDigitBits)) % kDigits]++;
    }
  }
  for (int pass = 0; pass < passes; pass++) {
    uint32_t* count = &counts[pass * kDigits];
    const int shift = pass * kDigitBits;
    if (count[(elements[0].word >> shift) % kDigits] == n) {
      continue; // all elements have the same digit
    }
    uint32_t begin = 0;
    for (int digit = 0; digit < kDigits; digit++) {
      begin += std::exchange(count[digit], begin);
    }
    for (int64_t i = 0; i < n; i++) {
      moved[count[(elements[i].word >> shift) % kDigits]++] = elements[i];
    }
    std::swap(elements, moved);
  }
  return elements;
}

template <typename word_t, typename scalar_t>
void order_by_radix(const RowKeys<scalar_t>& keys, int64_t* order) {
  const int64_t n = keys.size();
  Scratch<RadixElement<word_t>> elements(n), moved(n);
  for (int64_t i = 0; i < n; i++) {
    elements[i] = {word_t(keys[i]), uint32_t(i)};
  }
  const RadixElement<word_t>* sorted = radix_sort(elements.begin(), moved.begin(), n, word_t(keys.largest()));
  for (int64_t i = 0; i < n; i++) {
    order[i] = sorted[i].place;
  }
}

template <typename scalar_t>
void sort_row_by_radix(const RowKeys<scalar_t>& keys, int64_t* order) {
  if (keys.fit_half_a_word()) {
    order_by_radix<uint32_t>(keys, order);
  } else {
    order_by_radix<uint64_t>(keys, order);
  }
}

void sort_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool descending) {
  constexpr int64_t kKeysFrom = 16, kRadixFrom = 1024, kOnePassFrom = 128;
  dispatch<AllTypesAndBool>(self.scalar_type(), "sorting_kernel_method_name", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    dim_apply<3>({self, values, indices}, dim, [&](const std::array<char*, 3>& first) {
      const auto in = row_of<const scalar_t>(first[0], self, dim);
      const auto out = row_of<scalar_t>(first[1], values, dim);
      const auto places = row_of<int64_t>(first[2], indices, dim);
      if (in.size < kKeysFrom) {
        return descending ? sort_row_by_insertion(in, out, places, greater_nan_first<scalar_t>)
                          : sort_row_by_insertion(in, out, places, less_nan_last<scalar_t>);
      }
      Scratch<int64_t> order(in.size);
      if (in.size > int64_t(std::numeric_limits<uint32_t>::max())) {
        sort_row_by_comparison(in, order.begin(), descending);
      } else {
        const RowKeys<scalar_t> keys(in, descending);
        if (in.size >= (keys.largest() < kDigits ? kOnePassFrom : kRadixFrom)) {
          sort_row_by_radix(keys, order.begin());
        } else {
          sort_row_by_key(keys, order.begin());
        }
      }
      for (int64_t i = 0; i < in.size; i++) {
        out[i] = in[order[i]];
        places[i] = order[i];
      }
    });
  });
}

// Which of several equal elements is taken follows from the standard library, as in PyTorch: a partial sort if few of
// many elements are taken, else a partition around the k-th.
//
// Few of many elements: does what std::partial_sort does, without a copy of the row. The queue is a heap of the best k
// elements, the worst of them on top; the element that replaces the worst one is stored behind the heap.
template <typename scalar_t, typename Before>
void select_by_heap(Row<const scalar_t> in, Row<scalar_t> out, Row<int64_t> places, const Before& before_value) {
  using Pair = std::pair<scalar_t, int64_t>;
  const auto before = [&](const Pair& a, const Pair& b) { return before_value(a.first, b.first); };
  const int64_t k = out.size;
  std::vector<Pair> queue;
  queue.reserve(k + 1);
  for (int64_t i = 0; i < k; i++) {
    queue.push_back({in[i], i});
  }
  std::make_heap(queue.begin(), queue.end(), before);
  queue.emplace_back();
  for (int64_t i = k; i < in.size; i++) {
    const Pair candidate(in[i], i);
    if (before(candidate, queue[0])) {
      queue[k] = candidate;
      std::pop_heap(queue.begin(), queue.end(), before);
    }
  }
  queue.pop_back();
  std::sort_heap(queue.begin(), queue.end(), before);
  for (int64_t i = 0; i < k; i++) {
    out[i] = queue[i].first;
    places[i] = queue[i].second;
  }
}

// Many elements: a partition by keys. Keys have the order of the elements, but take one comparison and half the memory.
template <typename place_t, typename scalar_t>
void select_by_partition(Row<const scalar_t> in, Row<scalar_t> out, Row<int64_t> places, bool largest, bool sorted) {
  struct Element {
    key_type<scalar_t> key;
    place_t place;
  };
  const auto before = [](const Element& a, const Element& b) { return a.key < b.key; };
  Scratch<Element> queue(in.size);
  for (int64_t i = 0; i < in.size; i++) {
    const auto key = radix_key(in[i]);
    queue[i] = {largest ? static_cast<key_type<scalar_t>>(~key) : key, static_cast<place_t>(i)};
  }
  Element* const last = queue.begin() + out.size - 1;
  std::nth_element(queue.begin(), last, queue.end(), before);
  if (sorted) {
    std::sort(queue.begin(), last, before);
  }
  for (int64_t i = 0; i < out.size; i++) {
    out[i] = in[queue[i].place];
    places[i] = queue[i].place;
  }
}

void topk_kernel(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool largest,
                 bool sorted) {
  dispatch<AllNumbers>(self.scalar_type(), "topk_cpu", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    dim_apply<3>({self, values, indices}, dim, [&](const std::array<char*, 3>& first) {
      const auto in = row_of<const scalar_t>(first[0], self, dim);
      const auto out = row_of<scalar_t>(first[1], values, dim);
      const auto places = row_of<int64_t>(first[2], indices, dim);
      if (out.size * 64 <= in.size) {
        return largest ? select_by_heap(in, out, places, [](scalar_t a, scalar_t b) { return greater_nan_first(a, b); })
                       : select_by_heap(in, out, places, [](scalar_t a, scalar_t b) { return less_nan_last(a, b); });
      }
      return in.size <= int64_t(std::numeric_limits<uint32_t>::max())
                 ? select_by_partition<uint32_t>(in, out, places, largest, sorted)
                 : select_by_partition<int64_t>(in, out, places, largest, sorted);
    });
  });
}

} // namespace

REGISTER_CPU_DISPATCH(sort_stub, sort_kernel)
REGISTER_CPU_DISPATCH(topk_stub, topk_kernel)

} // namespace reftorch::at::native
