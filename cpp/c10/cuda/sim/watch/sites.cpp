// Mirrors: nothing in PyTorch: the places in the code of watched kernels; see sites.h
#include <c10/cuda/sim/watch/sites.h>

#include <algorithm>
#include <utility>

namespace cudasim::watch {

static uint64_t key_of(uint32_t path, uintptr_t place) { // addresses of code have 47 bits
  return uint64_t(path) << 47 ^ place;
}

uint32_t Sites::path_of(uint32_t parent, uintptr_t place) {
  const auto [it, is_new] = path_ids_.emplace(key_of(parent, place), static_cast<uint32_t>(paths_.size()));
  if (is_new) {
    paths_.push_back({parent, place, paths_[parent].depth + 1});
  }
  return it->second;
}

uint32_t Sites::site_of(uint32_t path, uintptr_t place, Kind kind) {
  Cached& cached = cache_[(place ^ place >> 12 ^ path * 40503u) % cache_.size()];
  if (cached.place == place && cached.path == path) {
    return cached.site;
  }
  const auto [it, is_new] = site_ids_.emplace(key_of(path, place), static_cast<uint32_t>(sites_.size()));
  if (is_new) {
    Site site;
    site.path = path;
    site.place = place;
    sites_.push_back(std::move(site));
    kinds_.push_back(kind);
  }
  cached = {place, path, it->second};
  return it->second;
}

std::vector<uintptr_t> Sites::places_of(uint32_t site) const {
  std::vector<uintptr_t> places{sites_[site].place};
  for (uint32_t path = sites_[site].path; path != 0; path = paths_[path].parent) {
    places.push_back(paths_[path].place);
  }
  return places;
}

const std::vector<uint32_t>& Sites::ranks() {
  if (ranks_.size() == sites_.size()) {
    return ranks_;
  }
  std::vector<std::pair<std::vector<uintptr_t>, uint32_t>> chains;
  for (uint32_t site = 0; site < sites_.size(); site++) {
    std::vector<uintptr_t> chain = places_of(site);
    std::reverse(chain.begin(), chain.end());
    chains.emplace_back(std::move(chain), site);
  }
  std::sort(chains.begin(), chains.end());
  ranks_.resize(sites_.size());
  for (uint32_t i = 0; i < chains.size(); i++) {
    ranks_[chains[i].second] = i;
  }
  return ranks_;
}

void Sites::clear() {
  sites_.assign(1, Site());
  kinds_.assign(1, Kind::BasicBlock);
  paths_.assign(1, {0, 0, 0});
  ranks_.clear();
  site_ids_.clear();
  path_ids_.clear();
  cache_.fill({});
}

} // namespace cudasim::watch
