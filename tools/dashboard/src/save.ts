/** Has the browser save a file. */
export function save(name: string, type: string, content: BlobPart): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** Saves what the canvas of a chart shows, with its title, as a PNG. */
export function save_canvas(name: string, title: string, chart: HTMLElement): void {
  const drawn = chart.querySelector("canvas");
  if (!drawn) return;
  const dots = devicePixelRatio;
  const head = 30 * dots;
  const margin = 12 * dots;
  const whole = document.createElement("canvas");
  whole.width = drawn.width + 2 * margin;
  whole.height = drawn.height + head + margin;
  const context = whole.getContext("2d");
  if (!context) return;
  const style = getComputedStyle(document.documentElement);
  context.fillStyle = style.getPropertyValue("--panel");
  context.fillRect(0, 0, whole.width, whole.height);
  context.fillStyle = style.getPropertyValue("--text");
  context.font = `600 ${13 * dots}px ${style.fontFamily}`;
  context.textBaseline = "middle";
  context.fillText(title, margin, head / 2 + 2 * dots);
  context.drawImage(drawn, margin, head);
  whole.toBlob((blob) => blob && save(name, "image/png", blob), "image/png");
}
