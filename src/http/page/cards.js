// Owns the cards of what waits for a person: it looks now and then, adds a card for what came, and takes away what nobody waits for.

import { Failure, get } from "./api.js";

const LOOK_MS = 5000;

// Follows the list `list` of the document at `/list`. `card` makes the element of one item, and puts it into the place.
export function followCards(place, list, card) {
  const cards = new Map();
  const look = async () => {
    if (document.hidden) return;
    try {
      const { [list]: items } = await get(`/${list}`);
      const ids = new Set(items.map(({ id }) => id));
      for (const [id, element] of cards) {
        if (!ids.has(id)) {
          element.remove();
          cards.delete(id);
        }
      }
      for (const item of items) if (!cards.get(item.id)?.isConnected) cards.set(item.id, card(item, place));
    } catch (error) {
      // Whoever has no token, or no brain, is told so where the conversation is.
      if (!(error instanceof Failure)) throw error;
    }
  };
  setInterval(look, LOOK_MS);
  return look();
}
