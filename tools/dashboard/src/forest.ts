// How much each feature matters: the permutation importance of a random forest (Breiman, "Random forests", Machine
// Learning 45, 2001). Trees are grown on bootstrap samples; on the examples that a tree did not see, the error is measured
// before and after a feature's values are shuffled, and what it rises by is what the feature matters. The same data give
// the same forest.
//
// Features are put into at most 64 bins first, so that a split is found by one pass over a node's examples. Words are
// numbered by their mean target, by which the best split of categories is one of numbers (Fisher, 1958). An example that
// does not have a feature (the momentum of Adam) stands in the middle, and is left out where that is shuffled: that
// there is none says nothing which another feature does not.

export type Feature = (number | string | null)[];

interface Node {
  feature: number;
  /** Bins up to this one go left; -1: a leaf. */
  bin: number;
  left: number;
  right: number;
  value: number;
}

interface Binned {
  /** The bin of each example. */
  bins: Uint8Array;
  count: number;
  known: boolean[];
  /** The bin of any value. */
  bin_of: (v: number | string | null) => number;
}

export interface Forest {
  trees: Node[][];
  features: Binned[];
  /** The share of the variance that is explained for examples that a tree did not see; at best 1. */
  explained: number;
  /** The importance of each feature, as shares whose sum is 1 (or 0, if nothing matters). */
  importance: number[];
}

const trees = 64;
const most_bins = 64;
const least_leaf = 3;
const deepest = 12;

/** xorshift32 (Marsaglia, 2003): whole numbers below `n`. */
function random_numbers(seed: number): (n: number) => number {
  let at = seed | 1;
  return (n) => {
    at ^= at << 13;
    at ^= at >>> 17;
    at ^= at << 5;
    return (at >>> 0) % n;
  };
}

/** The first edge that is not below the value. */
function first_edge(edges: number[], v: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle]! < v) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Words by their mean target. */
function numbers_of_words(values: Feature, targets: number[]): Map<string, number> {
  const sums = new Map<string, { sum: number; count: number }>();
  values.forEach((v, i) => {
    if (typeof v !== "string") return;
    const s = sums.get(v) ?? { sum: 0, count: 0 };
    sums.set(v, { sum: s.sum + targets[i]!, count: s.count + 1 });
  });
  const order = [...sums].sort(([, a], [, b]) => a.sum / a.count - b.sum / b.count);
  return new Map(order.map(([word], i) => [word, i]));
}

function binned(values: Feature, targets: number[]): Binned {
  const words = numbers_of_words(values, targets);
  const number = (v: number | string | null) => (typeof v === "string" ? (words.get(v) ?? 0) : v);
  const known = values.map(number).filter((v) => v !== null).sort((a, b) => a - b);
  // The upper edge of each bin: where there are many values, as many examples in each.
  const middle = known[known.length >> 1] ?? 0;
  let edges = [...new Set(known)];
  if (edges.length > most_bins)
    edges = [...new Set(Array.from({ length: most_bins }, (_, i) => known[Math.floor(((i + 1) * known.length) / most_bins) - 1]!))];
  const bin_of = (v: number | string | null) => {
    const n = number(v);
    return Math.min(first_edge(edges, n ?? middle), edges.length - 1);
  };
  return { bins: Uint8Array.from(values, bin_of), count: edges.length, known: values.map((v) => v !== null), bin_of };
}

/** The split of these examples that leaves the smallest squared error, among some features. */
function best_split(features: Binned[], targets: number[], examples: number[], random: (n: number) => number) {
  const all = examples.reduce((sum, i) => sum + targets[i]!, 0);
  let best = { gain: 1e-12, feature: -1, bin: -1 };
  const tried = Math.max(1, Math.ceil(features.length / 3));
  const order = features.map((_, i) => i);
  for (let t = 0; t < tried; ++t) {
    const pick = t + random(order.length - t);
    [order[t], order[pick]] = [order[pick]!, order[t]!];
    const f = order[t]!;
    const { bins, count } = features[f]!;
    const sums = new Float64Array(count);
    const counts = new Uint32Array(count);
    for (const i of examples) {
      sums[bins[i]!]! += targets[i]!;
      ++counts[bins[i]!]!;
    }
    let sum = 0;
    let left = 0;
    for (let bin = 0; bin + 1 < count; ++bin) {
      sum += sums[bin]!;
      left += counts[bin]!;
      const right = examples.length - left;
      if (left < least_leaf || right < least_leaf) continue;
      const gain = (sum * sum) / left + ((all - sum) * (all - sum)) / right - (all * all) / examples.length;
      if (gain > best.gain) best = { gain, feature: f, bin };
    }
  }
  return best;
}

function grown(features: Binned[], targets: number[], sample: number[], random: (n: number) => number): Node[] {
  const tree: Node[] = [];
  const grow = (examples: number[], depth: number): number => {
    const at = tree.length;
    const value = examples.reduce((sum, i) => sum + targets[i]!, 0) / examples.length;
    tree.push({ feature: -1, bin: -1, left: -1, right: -1, value });
    if (depth === deepest || examples.length < 2 * least_leaf) return at;
    const split = best_split(features, targets, examples, random);
    if (split.feature < 0) return at;
    const { bins } = features[split.feature]!;
    const left = grow(examples.filter((i) => bins[i]! <= split.bin), depth + 1);
    const right = grow(examples.filter((i) => bins[i]! > split.bin), depth + 1);
    Object.assign(tree[at]!, { feature: split.feature, bin: split.bin, left, right });
    return at;
  };
  grow(sample, 0);
  return tree;
}

function predicted(tree: Node[], bin: (feature: number) => number): number {
  let node = tree[0]!;
  while (node.bin >= 0) node = tree[bin(node.feature) <= node.bin ? node.left : node.right]!;
  return node.value;
}

/** Grows a forest, a tree at a time: who calls decides when the next one comes. Needs at least 8 examples. */
export function* growing(columns: Feature[], targets: number[]): Generator<number, Forest> {
  const n = targets.length;
  const random = random_numbers(20_261_122);
  const features = columns.map((c) => binned(c, targets));
  const mean = targets.reduce((a, b) => a + b, 0) / n;
  const variance = targets.reduce((sum, t) => sum + (t - mean) ** 2, 0) / n;
  const forest: Forest = { trees: [], features, explained: 0, importance: [] };
  const rises = columns.map(() => 0);
  const unseen = { sum: new Float64Array(n), count: new Uint32Array(n) };
  let measured = 0;
  for (let t = 0; t < trees; ++t) {
    const drawn = new Uint8Array(n);
    const sample = Array.from({ length: n }, () => random(n));
    for (const i of sample) drawn[i] = 1;
    const tree = grown(features, targets, sample, random);
    forest.trees.push(tree);
    const out = Array.from({ length: n }, (_, i) => i).filter((i) => !drawn[i]);
    measured += out.length;
    const before = out.map((i) => predicted(tree, (f) => features[f]!.bins[i]!));
    out.forEach((i, at) => {
      unseen.sum[i]! += before[at]!;
      ++unseen.count[i]!;
    });
    for (const f of new Set(tree.map((node) => node.feature))) {
      if (f < 0) continue;
      const own = out.map((_, at) => at).filter((at) => features[f]!.known[out[at]!]);
      const shuffled = own.slice();
      for (let i = shuffled.length - 1; i > 0; --i) {
        const j = random(i + 1);
        [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
      }
      own.forEach((at, place) => {
        const i = out[at]!;
        const other = out[shuffled[place]!]!;
        const after = predicted(tree, (g) => features[g]!.bins[g === f ? other : i]!);
        rises[f]! += (after - targets[i]!) ** 2 - (before[at]! - targets[i]!) ** 2;
      });
    }
    yield (t + 1) / trees;
  }
  let error = 0;
  let seen = 0;
  for (let i = 0; i < n; ++i)
    if (unseen.count[i]) {
      error += (unseen.sum[i]! / unseen.count[i]! - targets[i]!) ** 2;
      ++seen;
    }
  forest.explained = variance > 0 && seen ? 1 - error / seen / variance : 0;
  const positive = rises.map((r) => Math.max(0, r / Math.max(1, measured)));
  const all = positive.reduce((a, b) => a + b, 0);
  forest.importance = positive.map((r) => (all > 0 ? r / all : 0));
  return forest;
}

/** All of it at once. */
export function grow_forest(columns: Feature[], targets: number[]): Forest {
  const steps = growing(columns, targets);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Returns the forest's expectation if two features have these values and the others are those of each of
    some examples (partial dependence: Friedman, 2001). */
export function expected_at(forest: Forest, examples: number[], x: number, x_value: number | string, y: number, y_value: number | string): number {
  const x_bin = forest.features[x]!.bin_of(x_value);
  const y_bin = forest.features[y]!.bin_of(y_value);
  let sum = 0;
  for (const tree of forest.trees)
    for (const i of examples) sum += predicted(tree, (f) => (f === x ? x_bin : f === y ? y_bin : forest.features[f]!.bins[i]!));
  return sum / (forest.trees.length * examples.length);
}
