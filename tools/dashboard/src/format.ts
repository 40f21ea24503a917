// Numbers and times as people read them; the same as the terminal writes (engine/report/base/format.hpp).

const grouped = new Intl.NumberFormat("en");

export function count(n: number | null | undefined): string {
  return n === null || n === undefined ? "–" : grouped.format(n);
}

/** "1 slot", "2,000 slots". */
export function counted(n: number, what: string): string {
  return `${count(n)} ${what}${n === 1 ? "" : "s"}`;
}

/** To so many digits behind the point, and no more than it needs. */
export function rounded(v: number, digits: number): number {
  return Number(v.toFixed(digits));
}

/** Numbers of a TOML text by their shortest form: some writers print 0.03 as 0.029999999999999999. */
export function readable_toml(text: string): string {
  return text.replaceAll(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?<![\w.+-])[+-]?\d+\.\d{14,}(?:e[+-]?\d+)?(?![\w.])/gi, (token) =>
    /^["']/.test(token) ? token : shortest(Number(token)));
}

/** Writes a float as TOML does: with a point or an exponent. */
function shortest(v: number): string {
  const text = String(v);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** Writes it as the terminal does: "0.9614", "45,357"; an exponent where digits would say nothing. */
export function metric(v: number | null | undefined): string {
  if (v === null || v === undefined || !Number.isFinite(v)) return "–";
  const size = Math.abs(v);
  if (size !== 0 && (size < 1e-3 || size >= 1e12)) return v.toExponential(3);
  if (size < 100) return v.toFixed(4);
  const digits = size < 1000 ? 2 : size < 10_000 ? 1 : 0;
  return v.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** "51 %", "4.2 %". */
export function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** The shortest that gives the number back, as settings are written. */
export function setting(v: number | string | undefined): string {
  if (v === undefined) return "–";
  if (typeof v === "string") return v;
  if (Number.isInteger(v)) return grouped.format(v);
  const short = Number(v.toPrecision(6));
  return Math.abs(short) < 1e-4 ? short.toExponential() : String(short);
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** "350 MB". */
export function bytes(n: number): string {
  return n < 1e9 ? `${Math.round(n / 1e6)} MB` : `${(n / 1e9).toFixed(1)} GB`;
}

/** Returns the time of the day. */
export function clock(ms: number | null | undefined): string {
  if (!ms) return "–";
  const t = new Date(ms);
  return [t.getHours(), t.getMinutes(), t.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
}

export function date_time(ms: number | null | undefined): string {
  if (!ms) return "–";
  const t = new Date(ms);
  const day = [t.getFullYear(), t.getMonth() + 1, t.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
  return `${day} ${clock(ms)}`;
}

/** "n3f2a1": how genes are called everywhere (genome/genes/genome.hpp). */
export function gene_name(id: string): string {
  const n = BigInt(id);
  if (n === 0n) return "input";
  if (n === 1n) return "output";
  return "n" + n.toString(16).padStart(16, "0").slice(0, 6);
}
