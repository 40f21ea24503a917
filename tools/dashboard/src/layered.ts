import { coordCenter, coordGreedy, decrossDfs, decrossTwoLayer, graphStratify, layeringLongestPath, layeringSimplex, sugiyama } from "d3-dag";

export interface Box {
  id: string;
  width: number;
  height: number;
  /** The parents among the boxes that are there too. */
  parents: string[];
}

export interface Placed {
  width: number;
  height: number;
  boxes: Map<string, { x: number; y: number }>;
  /** From parent to child. */
  links: { from: string; to: string; points: [number, number][] }[];
}

/** The number of boxes beyond which the best places take seconds to find. */
const most_careful = 80;

/** A drawing of a graph without circles, in layers from above (Sugiyama, Tagawa and Toda, 1981). */
export function layered(boxes: Box[]): Placed {
  const graph = graphStratify().id((b: Box) => b.id).parentIds((b: Box) => b.parents)(boxes);
  const layout = sugiyama().nodeSize((n: { data: Box }) => [n.data.width, n.data.height]).gap([18, 26]);
  const { width, height } =
    boxes.length > most_careful
      ? layout.layering(layeringLongestPath()).decross(decrossDfs()).coord(coordCenter())(graph)
      : layout.layering(layeringSimplex()).decross(decrossTwoLayer()).coord(coordGreedy())(graph);
  const placed: Placed = { width, height, boxes: new Map(), links: [] };
  for (const node of graph.nodes()) placed.boxes.set(node.data.id, { x: node.x, y: node.y });
  for (const link of graph.links())
    placed.links.push({
      from: link.source.data.id,
      to: link.target.data.id,
      points: link.points.map(([x, y]) => [x, y]),
    });
  return placed;
}

/** A smooth line through them. */
export function path_of(points: [number, number][]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${first[0].toFixed(1)},${first[1].toFixed(1)}`;
  let [x, y] = first;
  for (const [to_x, to_y] of rest) {
    const middle = (y + to_y) / 2;
    path += `C${x.toFixed(1)},${middle.toFixed(1)} ${to_x.toFixed(1)},${middle.toFixed(1)} ${to_x.toFixed(1)},${to_y.toFixed(1)}`;
    [x, y] = [to_x, to_y];
  }
  return path;
}

const measure = document.createElement("canvas").getContext("2d");

export function text_width(text: string, bold = false): number {
  if (!measure) return text.length * 7;
  measure.font = `${bold ? "600 " : ""}12px ${getComputedStyle(document.documentElement).fontFamily}`;
  return measure.measureText(text).width;
}
