"""Calls `leat mock` by grpcio: every kind of call, metadata, an error with details, a deadline. grpcio_client.py ADDRESS FOLDER"""
import json
import sys

import grpc

address, folder = sys.argv[1:3]
sys.path.insert(0, folder)
notes, services = grpc.protos_and_services("notes.proto")

with grpc.insecure_channel(address) as channel:
    stub = services.NotesStub(channel)
    found = {}
    reply, call = stub.Say.with_call(notes.Note(text="hi", id=7, data=b"\x00\xff", tags=["a", "b"]), metadata=[("x-ask", "1")])
    found["say"] = [reply.text, reply.id, list(reply.data), list(reply.tags)]
    found["head"] = [dict(call.initial_metadata())["x-head"], list(dict(call.initial_metadata())["x-head-bin"]), dict(call.trailing_metadata())["x-trail"]]
    try:
        stub.Say(notes.Note(text="refuse"))
    except grpc.RpcError as error:
        found["refuse"] = [error.code().name, error.details(), "grpc-status-details-bin" in dict(error.trailing_metadata())]
    try:
        stub.Say(notes.Note(text="slow"), timeout=0.2)
    except grpc.RpcError as error:
        found["slow"] = error.code().name
    found["gzip"] = stub.Say(notes.Note(text="x" * 10000), compression=grpc.Compression.Gzip).text == "re: " + "x" * 10000
    found["count"] = [note.id for note in stub.Count(notes.Note())]
    found["join"] = stub.Join(iter([notes.Note(text="a"), notes.Note(text="b")])).text
    found["talk"] = [note.text for note in stub.Talk(iter([notes.Note(text="a"), notes.Note(text="b")]))]
print(json.dumps(found))
