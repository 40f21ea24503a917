import { useEffect, useState } from "preact/hooks";
import { ask, send } from "./connection";

/** Says who looks, and what they may do. */
export interface Session {
  user: string;
  host: string;
  /** The address that a colleague on that machine opens: with the token, which the page's own no longer has. */
  address: string;
  /** A head is there, to which orders may be given. */
  orders: boolean;
  /** Notes and tags can be written: by a head, or into the store. */
  notes: boolean;
  models: boolean;
  runs: boolean;
}

export interface Order {
  order: string;
  number?: number;
  text?: string;
  run?: string;
  id?: number;
}

/** Asked for again whenever something else is shown: a head may have come or gone. */
export function use_session(showing: string | undefined): Session | null {
  const [session, set] = useState<Session | null>(null);
  useEffect(() => {
    if (showing === undefined) return;
    let wanted = true;
    ask<Session>("/api/session").then((s) => wanted && set(s), () => wanted && set(null));
    return () => {
      wanted = false;
    };
  }, [showing]);
  return session;
}

/** The sentence that is recorded; an error has the reason why it is not. */
export async function give_order(order: Order): Promise<string> {
  const { recorded } = await send<{ recorded: string }>("/api/control", order);
  return recorded;
}
