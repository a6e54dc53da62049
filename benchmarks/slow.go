package main

import "time"

// ackDelay is by how much a slowNetwork delays what clients send. With that
// much, what is sent from memory that is used again too early is seen to be wrong.
const ackDelay = 40 * time.Millisecond

// slowServer is the address of servers in a slowNetwork.
const slowServer = "198.51.100.1"
