import type { PostSearch, Surface } from "../../../src/core/chat/surface.ts";
import type { Mutant } from "../machine/mutant.ts";

/** Defects of the search for lost posts by a key or in a list. */
export const searchMutants: readonly Mutant[] = [
  {
    name: "lost-key-unknown",
    what: "a platform that keeps keys does not find a message that it has",
    surface: withSearch(() => ({ find: () => Promise.resolve([]) })),
  },
  {
    name: "list-without-text",
    what: "the newest message since a time is taken for the lost one, whatever it says",
    surface: withSearch((search) => ({
      find: async (address, lost, options) => {
        const found = await search.find(
          address,
          { ...lost, isText: () => true, isOther: () => false },
          options,
        );
        return found === "undecided" ? found : found.slice(-1);
      },
    })),
  },
  {
    name: "key-renewed",
    what: "a post that is repeated gets another key",
    surface: (surface) => {
      let posts = 0;
      return surface.search?.repeatableForMs === undefined
        ? surface
        : {
            ...surface,
            post: (address, message, options) => {
              posts += 1;
              return surface.post(address, { ...message, key: `${message.key}x${posts}` }, options);
            },
          };
    },
  },
];

/** Changes the search of a surface, if it has one. */
function withSearch(changed: (search: PostSearch) => Partial<PostSearch>): (surface: Surface) => Surface {
  return (surface) => {
    const { search } = surface;
    return search === undefined ? surface : { ...surface, search: { ...search, ...changed(search) } };
  };
}
