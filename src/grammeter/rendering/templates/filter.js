// Which sentences are found, and in what order.

/** Return the outputs of a sentence that one of the shown systems wrote. */
function shownOutputs(sentence, hidden) {
  if (!hidden.size) return sentence[OUTPUTS];
  return sentence[OUTPUTS].filter((output) => output[SYSTEMS].some((place) => !hidden.has(place)));
}

/** Return a test of texts, or throw a SyntaxError that says what is wrong with the pattern. */
function textTest(query, isPattern) {
  if (isPattern) {
    const pattern = new RegExp(query, "iu");
    return (text) => pattern.test(text);
  }
  const wanted = query.toLowerCase();
  return (text) => text.toLowerCase().includes(wanted);
}

function hasText(sentence, outputs, test) {
  return (
    test(sentence[SOURCE]) ||
    [sentence, ...outputs].some((of) =>
      (of === sentence ? of[REFERENCES] : (of[OWN] ?? [])).some((text) => text !== null && test(text)),
    ) ||
    outputs.some((output) => test(textOf(sentence, output)))
  );
}

/** Whether one and the same edit of the outputs has this type and this verdict. */
function hasEdit(sentence, outputs, type, verdict) {
  return outputs.some((output) =>
    output[MARKS].some(
      (mark) =>
        (verdict < 0 || (mark & 3) === verdict) &&
        (type < 0 || sentence[EDITS][mark >> 2][TYPE] === type),
    ),
  );
}

/** Whether two metrics put two of the outputs in opposite orders, as far as decimals are shown. */
function metricsDisagree(outputs, metrics, pairs) {
  return pairs.some(([one, other]) => {
    const sign = metrics[one][1] === metrics[other][1] ? 1 : -1;
    return outputs.some((a, place) =>
      outputs.slice(0, place).some((b) => {
        const first = wholeValue(a, one) - wholeValue(b, one);
        const second = wholeValue(a, other) - wholeValue(b, other);
        return (first > 0 && sign * second < 0) || (first < 0 && sign * second > 0);
      }),
    );
  });
}

function metricPairs(metrics) {
  return metrics.flatMap((_, one) => metrics.slice(0, one).map((_, other) => [other, one]));
}

/** Return a test of sentences. */
function sentenceTest(data, state) {
  const type = data.types.findIndex(([name]) => name === state.type);
  const verdict = state.verdict ? VERDICTS.indexOf(state.verdict) : -1;
  const byEdit = state.type !== null || state.verdict;
  const test = state.query ? textTest(state.query, state.regex) : null;
  const all = metricPairs(data.metrics);
  const pairs = state.disagree === "any" ? all : all.filter((p) => p.join(".") === state.disagree);
  return (sentence) => {
    const outputs = shownOutputs(sentence, state.hidden);
    return (
      (!state.differ || outputs.length > 1) &&
      (!byEdit || ((state.type === null || type >= 0) && hasEdit(sentence, outputs, type, verdict))) &&
      (!state.disagree || metricsDisagree(outputs, data.metrics, pairs)) &&
      (!test || hasText(sentence, outputs, test))
    );
  };
}

/** Return the figure by which a sentence is sorted, NaN where there is none. */
function sortKey(sentence, state) {
  const outputs = shownOutputs(sentence, state.hidden);
  if (state.of !== "spread" && state.of !== "mean") {
    const own = outputs.find((output) => output[SYSTEMS].includes(state.of));
    return own ? wholeValue(own, state.sort) : NaN;
  }
  let [sum, number, low, high] = [0, 0, Infinity, -Infinity];
  for (const output of outputs) {
    const value = wholeValue(output, state.sort);
    if (Number.isNaN(value)) continue;
    const systems = output[SYSTEMS].filter((place) => !state.hidden.has(place)).length;
    sum += value * systems;
    number += systems;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!number) return NaN;
  if (state.of === "mean") return sum / number;
  return high === low ? 0 : high - low;
}

/** Return the places of the sentences that are found, sorted. */
function findSentences(data, state) {
  const test = sentenceTest(data, state);
  const filters =
    state.differ || state.type !== null || state.verdict || state.disagree || state.query;
  let found = Array.from({ length: data.count }, (_, place) => place);
  if (filters) found = found.filter((place) => test(data.sentence(place)));
  const sign = state.order === "down" ? -1 : 1;
  if (state.sort === null) return sign > 0 ? found : found.reverse();
  const keys = new Map(found.map((place) => [place, sortKey(data.sentence(place), state)]));
  return found.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
    return (x === y ? 0 : sign * (x < y ? -1 : 1)) || a - b;
  });
}
