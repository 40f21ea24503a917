import { setting } from "./format";

/** The scale of the values of one field. */
export interface Scale {
  name: string;
  /** The lowest of numbers. */
  low: number;
  high: number;
  log: boolean;
  /** The words, or the few numbers; empty if there are many. */
  words: string[];
}

/** Numbers of which there are so few stand as far apart as words. */
const few_values = 6;

/** None where nothing has a value. `apart`: few numbers stand as far apart as words. */
export function scale_of(name: string, all: (number | string | null)[], apart = true): Scale | null {
  const values = all.filter((v) => v !== null);
  if (!values.length) return null;
  const numbers = values.filter((v) => typeof v === "number");
  if (numbers.length < values.length) return scale_of_words(name, [...new Set(values.map(String))].sort());
  const few = new Set(numbers);
  if (apart && few.size <= few_values) return scale_of_words(name, [...few].sort((a, b) => a - b).map(String));
  const low = numbers.reduce((a, b) => Math.min(a, b), Infinity);
  const high = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
  const log = low > 0 && high / low >= 20;
  return { name, low, high: high > low ? high : low + 1, log, words: [] };
}

function scale_of_words(name: string, words: string[]): Scale {
  return { name, low: 0, high: Math.max(1, words.length - 1), log: false, words };
}

/** 0 at the low end, 1 at the high one. */
export function place_on(s: Scale, v: number | string): number {
  if (s.words.length) return s.words.length > 1 ? s.words.indexOf(String(v)) / (s.words.length - 1) : 0.5;
  const n = Number(v);
  return s.log ? Math.log(n / s.low) / Math.log(s.high / s.low) : (n - s.low) / (s.high - s.low);
}

export function value_at(s: Scale, part: number): number {
  return s.log ? s.low * (s.high / s.low) ** part : s.low + part * (s.high - s.low);
}

/** Returns the places at which labels stand, and their texts. */
export function labels_of(s: Scale, parts: number[]): [number, string][] {
  return s.words.length
    ? s.words.map((w) => [place_on(s, w), Number.isNaN(Number(w)) ? w : setting(Number(w))])
    : parts.map((part) => [part, setting(Number(value_at(s, part).toPrecision(3)))]);
}
