import { readFileSync } from "node:fs";
import { ORDERS } from "./orders.ts";

const ADDRESS = "https://shop.example/pictures/";

/** Address of a picture. Only the simulator knows a file behind it. */
export function pictureAddress(name: string): string {
  return `${ADDRESS}${name}.png`;
}

/** The pictures of the shop, by address. */
export function shopPictures(): ReadonlyMap<string, Uint8Array> {
  const names = new Set(ORDERS.map(({ picture }) => picture));
  return new Map(
    [...names].map((name) => [
      pictureAddress(name),
      readFileSync(new URL(`pictures/${name}.png`, import.meta.url)),
    ]),
  );
}
