import { useEffect, useRef, useState } from "preact/hooks";
import { type Theme, use_theme } from "./theme";

/** A canvas that is as wide as its place, for what is no chart of lines. */
export interface Canvas {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  theme: Theme;
}

interface DrawingParams {
  label: string;
  height: number;
  draw: (c: Canvas) => void;
  /** With the place of the pointer; null: it left. */
  point?: (x: number, y: number, pressed: boolean) => void;
  press?: (x: number, y: number) => void;
  release?: (x: number, y: number) => void;
  leave?: () => void;
}

export function Drawing({ label, height, draw, point, press, release, leave }: DrawingParams) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, set_width] = useState(0);
  const theme = use_theme();

  useEffect(() => {
    const here = canvas.current!.parentElement!;
    const resized = new ResizeObserver(() => set_width(here.clientWidth));
    resized.observe(here);
    set_width(here.clientWidth);
    return () => resized.disconnect();
  }, []);

  useEffect(() => {
    const c = canvas.current!;
    const context = c.getContext("2d");
    if (!context || !width) return;
    const dots = devicePixelRatio;
    c.width = Math.round(width * dots);
    c.height = Math.round(height * dots);
    c.style.width = `${width}px`;
    c.style.height = `${height}px`;
    context.setTransform(dots, 0, 0, dots, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = theme.font;
    draw({ context, width, height, theme });
  }, [draw, width, height, theme]);

  const at = (e: PointerEvent): [number, number] => [e.offsetX, e.offsetY];
  return (
    <div class="drawing">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        onPointerMove={(e) => point?.(...at(e), e.buttons === 1)}
        onPointerDown={(e) => {
          e.currentTarget.setPointerCapture(e.pointerId);
          press?.(...at(e));
        }}
        onPointerUp={(e) => release?.(...at(e))}
        onPointerLeave={() => leave?.()}
      />
    </div>
  );
}
