// Rival: the echo service on grpc-go. GOMAXPROCS is one: the core that the harness gives it.
package main

import (
	"context"
	"flag"
	"log"
	"net"

	"google.golang.org/grpc"

	"leat.bench/echo/pb"
)

type same struct {
	pb.UnimplementedEchoServer
}

func (same) Say(_ context.Context, note *pb.Note) (*pb.Note, error) {
	return note, nil
}

func main() {
	address := flag.String("listen", "127.0.0.1:0", "where to listen")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterEchoServer(server, same{})
	log.Fatal(server.Serve(listener))
}
