"""The compiled loops of kit.text.words: text to words, words to ids, ids to counts.

Words stand packed: their UTF-8 one after the other in `letters`, word i from borders[i] to
borders[i + 1].
"""

import numpy as np

from kit.text.compiled import compiled

DOTTED = 0x130  # İ, whose lower case is i and a dot above: the dot ends the word


@compiled
def split(data, lower, letters, borders, starts, ends):
    """Packs the words of two characters and more of a text, and returns how many they are.

    data: the text's UTF-8. lower: by code point, what stands for it in a word, 0 for no part of
    one. Filled: letters and borders; starts and ends, in characters of the text.
    """
    count, long, place, written, i, n = 0, 0, 0, 0, 0, len(data)
    while i <= n:
        char = np.int64(data[i]) if i < n else np.int64(32)
        i += 1
        if char >= 0x80:
            if char < 0xE0:
                char = (char & 0x1F) << 6 | (data[i] & 0x3F)
                i += 1
            elif char < 0xF0:
                char = (char & 0x0F) << 12 | (data[i] & 0x3F) << 6 | (data[i + 1] & 0x3F)
                i += 2
            else:
                char = ((char & 0x07) << 18 | (data[i] & 0x3F) << 12
                        | (data[i + 1] & 0x3F) << 6 | (data[i + 2] & 0x3F))
                i += 3
        low = np.int64(lower[char])
        if low:
            if long == 0:
                starts[count] = place
            long += 1
            if low < 0x80:
                letters[written] = low
                written += 1
            elif low < 0x800:
                letters[written] = 0xC0 | low >> 6
                letters[written + 1] = 0x80 | low & 0x3F
                written += 2
            elif low < 0x10000:
                letters[written] = 0xE0 | low >> 12
                letters[written + 1] = 0x80 | low >> 6 & 0x3F
                letters[written + 2] = 0x80 | low & 0x3F
                written += 3
            else:
                letters[written] = 0xF0 | low >> 18
                letters[written + 1] = 0x80 | low >> 12 & 0x3F
                letters[written + 2] = 0x80 | low >> 6 & 0x3F
                letters[written + 3] = 0x80 | low & 0x3F
                written += 4
        place += 1
        if low == 0 or char == DOTTED:
            if long >= 2:
                ends[count] = place - (low == 0)
                count += 1
                borders[count] = written
            else:
                written = borders[count]
            long = 0
    return count


@compiled
def look_up(letters, borders, count, slots, own, own_borders, size, grow, ids):
    """Fills the ids of the first `count` packed words; -1 for a new one, unless it may `grow`.

    slots: the hash table, a power of two long and never full: 0, or a word's hash (the upper half)
    and its id + 1. own, own_borders, size: the packed words that have ids.
    Returns slots, own, own_borders and size as they are then.
    """
    mask = np.int64(len(slots) - 1)
    for word in range(count):
        start, end = borders[word], borders[word + 1]
        mixed = np.uint64(14695981039346656037)  # FNV-1a
        for i in range(start, end):
            mixed = (mixed ^ np.uint64(letters[i])) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(29)
        hashed = np.int64(mixed & np.uint64(0xFFFFFFFF))
        at = hashed & mask
        found = np.int64(-1)
        while slots[at] != 0:
            slot = slots[at]
            if np.int64(slot >> np.uint64(32)) == hashed:
                known = np.int64(slot & np.uint64(0xFFFFFFFF)) - 1
                first = own_borders[known]
                same = own_borders[known + 1] - first == end - start
                i = 0
                while same and i < end - start:
                    same = own[first + i] == letters[start + i]
                    i += 1
                if same:
                    found = known
                    break
            at = (at + 1) & mask
        if found < 0 and grow:
            found = size
            size += 1
            if size >= len(own_borders):
                wider = np.empty(2 * size, np.int64)
                wider[:size] = own_borders
                own_borders = wider
            first = own_borders[found]
            after = first + end - start
            if after > len(own):
                longer = np.empty(2 * after, np.uint8)
                longer[:first] = own[:first]
                own = longer
            own[first:after] = letters[start:end]
            own_borders[size] = after
            slots[at] = np.uint64(hashed) << np.uint64(32) | np.uint64(size)
            if 2 * size > len(slots):
                slots = _doubled(slots)
                mask = np.int64(len(slots) - 1)
        ids[word] = found
    return slots, own, own_borders, size


@compiled
def _doubled(slots):
    """The hash table in twice the room."""
    wider = np.zeros(2 * len(slots), np.uint64)
    mask = np.int64(len(wider) - 1)
    for slot in slots:
        if slot != 0:
            at = np.int64(slot >> np.uint64(32)) & mask
            while wider[at] != 0:
                at = (at + 1) & mask
            wider[at] = slot
    return wider


@compiled
def tally(ids, room, columns, counts):
    """Fills the distinct ids, as they come, and how often each stands; returns how many they are.

    room: int32 zeros, one an id at least; it is zeros again afterwards.
    """
    distinct = 0
    for i in ids:
        if room[i] == 0:
            columns[distinct] = i
            distinct += 1
        room[i] += 1
    for n in range(distinct):
        counts[n] = room[columns[n]]
        room[columns[n]] = 0
    return distinct
