Feature: locks
