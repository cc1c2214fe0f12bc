import type { Location } from "./form.ts";

const DEGREES = String.raw`(-?\d{1,2}(?:\.\d+)?)°?\s*,\s*(-?\d{1,3}(?:\.\d+)?)°?`;
/** Forms in which coordinates come as text: alone, as `geo:`, as a link to a map, and as providers describe a place. */
const FORMS = [
  new RegExp(`^${DEGREES}$`),
  new RegExp(`^geo:${DEGREES}(?:[;?].*)?$`, "i"),
  new RegExp(`^\\[Location: ${DEGREES}\\]$`),
  new RegExp(`^https://\\S+(?:[?&](?:q|query|ll)=|/@|#map=\\d+/)${DEGREES}\\S*$`, "i"),
];
const VENUE = new RegExp(`^\\[Venue: ([^\\n,]+), ([^\\n]+?) ${DEGREES}\\]$`);

/** Returns the place that a text names by its coordinates. */
export function readLocation(text: string): Location | undefined {
  const [, title, address, ...ofVenue] = VENUE.exec(text) ?? [];
  const found = FORMS.map((form) => form.exec(text)).find((match) => match !== null);
  const [latitude, longitude] = (title === undefined ? found?.slice(1, 3) : ofVenue)?.map(Number) ?? [];
  if (latitude === undefined || longitude === undefined) return undefined;
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return undefined;
  return {
    latitude,
    longitude,
    ...(title !== undefined && { title }),
    ...(address !== undefined && { address }),
  };
}
