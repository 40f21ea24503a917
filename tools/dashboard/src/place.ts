import { useLayoutEffect, useState } from "preact/hooks";

/** The place on the page where one is; all of it is in the address, so that a reload and the way back keep it. */
export interface Place {
  view: string;
  ids: number[];
  /** Null: now. */
  generation: number | null;
  query: string;
  sort: string;
  /** The options that a view is set to: axes, metrics, columns. */
  options: Record<string, string>;
}

const common = new Set(["g", "q", "sort"]);

export function read_place(hash: string): Place {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/");
  const options = new URLSearchParams(search);
  const generation = options.get("g");
  return {
    view: view || "overview",
    ids: rest.map(Number).filter(Number.isSafeInteger),
    generation: generation !== null && /^\d+$/.test(generation) ? Number(generation) : null,
    query: options.get("q") ?? "",
    sort: options.get("sort") ?? "-id",
    options: Object.fromEntries([...options].filter(([name]) => !common.has(name))),
  };
}

export function address_of(place: Place, change: Partial<Place> = {}): string {
  const to = { ...place, ...("view" in change ? { ids: [], options: {} } : {}), ...change };
  const options = new URLSearchParams();
  if (to.generation !== null) options.set("g", String(to.generation));
  if (to.query) options.set("q", to.query);
  if (to.sort !== "-id") options.set("sort", to.sort);
  for (const [name, v] of Object.entries(to.options)) if (v) options.set(name, v);
  const search = options.toString();
  return `#/${[to.view === "overview" ? "" : to.view, ...to.ids].join("/")}${search ? `?${search}` : ""}`;
}

/** Sets an option of the view; an empty one is left out of the address. */
export function set_option(place: Place, name: string, value: string): void {
  go(place, { options: { ...place.options, [name]: value } }, true);
}

/** `again`: in the place of where one is, so that the way back does not lead through every letter typed. */
export function go(place: Place, change: Partial<Place>, again = false): void {
  const address = address_of(place, change);
  if (!again) {
    location.hash = address;
    return;
  }
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function use_place(): Place {
  const [place, set] = useState(() => read_place(location.hash));
  useLayoutEffect(() => {
    const moved = () => set(read_place(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return place;
}
