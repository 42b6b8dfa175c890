#!/usr/bin/env python3
"""Reads a TensorBoard event file without TensorBoard: checks every checksum, prints a line of JSON for each event."""
import json
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = struct.unpack('<d' if wire == 1 else '<f', data[at:at + size])[0], at + size
        else:
            sys.exit(f'wire type {wire} is none of an event')
        yield number, value


def events(data):
    at = 0
    while at < len(data):
        head = data[at:at + 8]
        (size,) = struct.unpack('<Q', head)
        body = data[at + 12:at + 12 + size]
        for checked, place in ((head, at + 8), (body, at + 12 + size)):
            if struct.unpack('<I', data[place:place + 4])[0] != masked(checked):
                sys.exit(f'the checksum at byte {place} is wrong')
        at += size + 16
        yield body


assert crc32c(b'123456789') == 0xE3069283  # the check value of CRC-32C
with open(sys.argv[1], 'rb') as file:
    for event in events(file.read()):
        names = {1: 'time', 2: 'step', 3: 'version', 5: 'scalars'}
        line = {}
        for number, value in fields(event):
            if number == 5:
                parts = [dict(fields(scalar)) for _, scalar in fields(value)]
                value = {part[1].decode(): part[2] for part in parts}
            elif number == 3:
                value = value.decode()
            line[names[number]] = value
        print(json.dumps(line))
