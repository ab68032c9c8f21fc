// The search of the site: ranks the documents of the index that course/_tools/book/search_index.py writes.
//
// Sphinx's searchtools.js reads the question and shows the results; this file takes the place of what finds and orders
// them. All words of a question need not be in a document: each word that is there adds its weight.

const Ranking = {
  // These words are in most questions and say nothing about what is looked for.
  IGNORED: new Set(
    ("a about all an and any are as at be by can could do does for from get has have how i if in into is it its make " +
      "me my of on one or our should that the their then there they this to use using want was we what when where " +
      "which who why will with work would you your").split(" "),
  ),
  PART: 0.4, // a word that only begins as the word of the question does counts so much

  // The words of a question, as `words` of search_index.py has those of a text.
  words(text) {
    const found = (text.toLowerCase().match(/[a-z0-9_]+/g) || []).map((word) => word.replace(/^_+|_+$/g, ""));
    const singular = (word) => (word.length > 3 && /[^sui]s$/.test(word) ? word.slice(0, -1) : word);
    return [...new Set(found.filter((word) => word.length > 1).map(singular))];
  },

  // The weights that a word of the question gives to documents, as a map from the document's number.
  weights(index, word) {
    const found = new Map();
    const add = (numbers, factor) => {
      for (let i = 0, document = 0; i < numbers.length; i += 2) {
        document += numbers[i];
        found.set(document, Math.max(found.get(document) || 0, factor * numbers[i + 1]));
      }
    };
    if (Object.hasOwn(index.words, word)) add(index.words[word], 1);
    if (word.length > 3) {
      for (const other of Object.keys(index.words)) {
        if (other !== word && other.startsWith(word)) add(index.words[other], (Ranking.PART * word.length) / other.length);
      }
    }
    return found;
  },

  // The documents for a question, the best first: [address, title, about, kind, score].
  search(index, question) {
    let asked = Ranking.words(question);
    asked = asked.some((word) => !Ranking.IGNORED.has(word)) ? asked.filter((word) => !Ranking.IGNORED.has(word)) : asked;
    const scores = new Map(), matched = new Map();
    let total = 0;
    for (const word of asked) {
      const weights = Ranking.weights(index, word);
      const rarity = Math.log(1 + index.documents.length / (1 + weights.size));
      total += rarity;
      for (const [document, weight] of weights) {
        scores.set(document, (scores.get(document) || 0) + weight);
        matched.set(document, (matched.get(document) || 0) + rarity);
      }
    }
    const results = [...scores].map(([number, score]) => {
      const [address, title, about, kind, name] = index.documents[number];
      return [address, title, about, kind, score * (matched.get(number) / total), Ranking.named(question, title, name)];
    });
    // Of what has the name, the shortest is first: `torch.softmax` before `torch.special.softmax`, a header before a .cpp.
    const order = (a, b) => b[5] - a[5] || (a[5] ? a[1].length - b[1].length : b[4] - a[4]) || (a[1] < b[1] ? -1 : 1);
    return results.sort(order).slice(0, 100);
  },

  // Who types a whole name wants what has this name: 2 if the name has these letters, 1 if others are small or capital.
  named(question, title, name) {
    const asked = question.trim();
    if (asked === name || asked === title || title.endsWith("/" + asked)) return 2;
    const plain = (text) => text.toLowerCase().replace(/[\s_]+/g, "");
    return plain(asked) === plain(name) || plain(asked) === plain(title) ? 1 : 0;
  },
};

if (typeof document !== "undefined") {
  // Before searchtools.js reads the question, which waits for the same event.
  document.addEventListener("DOMContentLoaded", () => {
    if (typeof Search === "undefined") return;
    // Sphinx shows the last of the results first: [page, title, place, description, score, file, kind].
    Search._performSearch = (question) =>
      Ranking.search(Search._index, question)
        .map(([address, title, about, kind, score]) => {
          const [file, place] = address.split("#");
          const description = about ? `${kind}: ${about}` : kind;
          return [file.replace(/\.html$/, ""), title, place ? "#" + place : "", description, score, file, "text"];
        })
        .reverse();
  });
}
