Feature: batch
