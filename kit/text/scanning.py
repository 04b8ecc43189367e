"""The compiled loops of kit.text.words: text to words, words to ids, ids to counts.

Words stand packed: their UTF-8 in `letters`, eight bytes a number, the first byte lowest and zeros
behind the last; word i is letters[borders[i]:borders[i + 1]]. No word holds a zero byte.
"""

import numpy as np

from kit.text.compiled import compiled

DOTTED = 0x130  # İ, whose lower case is i and a dot above: the dot ends the word
MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, about 2 ** 64 over the golden ratio
LOW, HALF, FULL = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(64)


@compiled
def split(data, lower, letters, borders, starts, ends):
    """Packs the words of two characters and more of a text, and returns how many they are.

    data: the text's UTF-8. lower: by code point, the UTF-8 (lowest byte first) of what stands for
    it in a word, 0 for no part of one. Filled: letters and borders; starts and ends, in characters
    of the text.
    """
    count, long, place, written, i, n = 0, 0, 0, 0, 0, len(data)
    held, bits = np.uint64(0), np.uint64(0)  # the last bytes of a word, not yet written
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
        low = np.uint64(lower[char])
        if low != 0:
            if long == 0:
                starts[count] = place
            long += 1
            size = np.uint64(8)
            while low >> size:
                size += np.uint64(8)
            held |= low << bits
            bits += size
            if bits >= FULL:
                letters[written] = held
                written += 1
                bits -= FULL
                held = low >> (size - bits)
        place += 1
        if low == 0 or char == DOTTED:
            if long >= 2:
                if bits:
                    letters[written] = held
                    written += 1
                ends[count] = place - (low == 0)
                count += 1
                borders[count] = written
            held, bits, long = np.uint64(0), np.uint64(0), 0
    return count


@compiled
def look_up(letters, borders, slots, own, own_borders, size, grow, ids):
    """Fills the ids of packed words, one a border but the last; -1 for a new one, unless it may
    `grow`.

    slots: the hash table, two numbers a place, a power of two of places and never full: a word's
    first number, and its hash (the upper half) with its id + 1, 0 for none. own, own_borders, size:
    the packed words that have ids. Returns slots, own, own_borders and size as they are then.
    """
    mask = np.uint64(len(slots) // 2 - 1)
    for word in range(len(borders) - 1):
        start, end = borders[word], borders[word + 1]
        mixed = np.uint64(0)
        for i in range(start, end):
            mixed = (mixed ^ letters[i]) * MIXER
            mixed ^= mixed >> HALF
        mixed = mixed * MIXER >> HALF
        at, head, found = mixed & mask, letters[start], np.int64(-1)
        while slots[2 * at + 1] != 0:
            slot = slots[2 * at + 1]
            if slots[2 * at] == head and slot >> HALF == mixed:
                known = np.int64(slot & LOW) - 1
                first = own_borders[known]
                same = own_borders[known + 1] - first == end - start
                i = 1
                while same and i < end - start:
                    same = own[first + i] == letters[start + i]
                    i += 1
                if same:
                    found = known
                    break
            at = at + np.uint64(1) & mask
        if found < 0 and grow:
            found = size
            size += 1
            if size >= len(own_borders):
                own_borders = _longer(own_borders, size)
            first = own_borders[found]
            after = first + end - start
            if after > len(own):
                own = _longer(own, after)
            own[first:after] = letters[start:end]
            own_borders[size] = after
            slots[2 * at], slots[2 * at + 1] = head, mixed << HALF | np.uint64(size)
            if 4 * size > len(slots):
                slots = _doubled(slots)
                mask = np.uint64(len(slots) // 2 - 1)
        ids[word] = found
    return slots, own, own_borders, size


@compiled
def _longer(numbers, least):
    """The numbers in room for twice `least`."""
    longer = np.empty(2 * least, numbers.dtype)
    longer[:len(numbers)] = numbers
    return longer


@compiled
def _doubled(slots):
    """The hash table in twice the room."""
    wider = np.zeros(2 * len(slots), np.uint64)
    mask = np.uint64(len(wider) // 2 - 1)
    for old in range(0, len(slots), 2):
        if slots[old + 1] != 0:
            at = slots[old + 1] >> HALF & mask
            while wider[2 * at + 1] != 0:
                at = at + np.uint64(1) & mask
            wider[2 * at], wider[2 * at + 1] = slots[old], slots[old + 1]
    return wider


@compiled
def pack(data, places, letters, borders):
    """Packs words that stand one after the other, word i as bytes places[i] to places[i + 1].

    letters: zeros, which it fills with borders; of the numbers filled the last border tells.
    """
    written = 0
    for word in range(len(places) - 1):
        for n in range(places[word + 1] - places[word]):
            letters[written + n // 8] |= np.uint64(data[places[word] + n]) << np.uint64(n % 8 * 8)
        written += (places[word + 1] - places[word] + 7) // 8
        borders[word + 1] = written


@compiled
def unpack(letters, borders, data, places):
    """What `pack` undoes: fills data and places, and returns the number of bytes."""
    end = 0
    for word in range(len(borders) - 1):
        for i in range(borders[word], borders[word + 1]):
            held = letters[i]
            while held:
                data[end] = held & np.uint64(0xFF)
                held >>= np.uint64(8)
                end += 1
        places[word + 1] = end
    return end


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
