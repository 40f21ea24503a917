import { useEffect, useState } from "preact/hooks";
import type { Session } from "./session";

/** The address of this very view, for somebody else: the token is in it, as the cookie is this browser's alone. */
export function Share({ session }: { session: Session }) {
  const [hash, set_hash] = useState(location.hash);
  const [said, say] = useState("");
  useEffect(() => {
    const moved = () => set_hash(location.hash);
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  const address = session.address + hash;
  const port = new URL(session.address).port;
  const copy = (text: string) => navigator.clipboard.writeText(text).then(() => say("copied"), () => say("select it and copy it"));
  return (
    <section class="bar share" aria-label="A link to this view" data-test="share">
      <p>
        On {session.host} this opens the same view; whoever has it may look{session.orders && " and give orders"}.{" "}
        <code>{address}</code> <button type="button" onClick={() => copy(address)}>Copy</button>
      </p>
      <p>
        From another machine, first <code>ssh -N -L {port}:127.0.0.1:{port} {session.user}@{session.host}</code>{" "}
        <button type="button" onClick={() => copy(`ssh -N -L ${port}:127.0.0.1:${port} ${session.user}@${session.host}`)}>Copy</button>, then the same link.{" "}
        <span role="status" class="muted">{said}</span>
      </p>
    </section>
  );
}

